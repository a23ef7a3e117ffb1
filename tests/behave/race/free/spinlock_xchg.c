/* SPDX-License-Identifier: Apache-2.0 */
/* A test-and-test-and-set lock of XCHG, which is atomic without LOCK; PAUSE and MOV spin. */
#include "../harness.h"

struct spinlock {
	volatile unsigned char taken;
};

static struct spinlock lock;
static int stack[64];
static int depth;

static inline void acquire(struct spinlock *spinlock)
{
	unsigned char taken = 1;

	for (;;) {
		unsigned spins = 0;

		__asm__ volatile("xchgb %0, %1" : "+q"(taken), "+m"(spinlock->taken) : : "memory");
		if (!taken)
			return;
		for (;;) {
			unsigned char seen;

			__asm__ volatile("movb %1, %0" : "=q"(seen) : "m"(spinlock->taken));
			if (!seen)
				break;
			__asm__ volatile("pause");
			if (++spins % 64 == 0)
				nap(50);
		}
	}
}

static inline void release(struct spinlock *spinlock)
{
	__asm__ volatile("movb $0, %0" : "=m"(spinlock->taken) : : "memory");
}

static void *push_and_pop(void *arg)
{
	while (running()) {
		acquire(&lock);
		if (depth < 64)
			stack[depth++] = (int)(intptr_t)arg;
		release(&lock);
		pace_hot();
		acquire(&lock);
		if (depth > 0)
			consume(stack[--depth]);
		release(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(push_and_pop, harness_threads);
	return harness_finish();
}
