/* SPDX-License-Identifier: Apache-2.0 */
/* 64 threads on stacks of 16 KiB that use three quarters of them. */
#include "hostile.h"

#define THREADS 64
#define STACK (16 * 1024)

static long sum;

__attribute__((noinline)) static int use_stack(int seed)
{
	volatile char space[STACK / 4];

	for (size_t i = 0; i < sizeof(space); i += 256)
		space[i] = (char)seed;
	noise_counter++;
	return space[256];
}

static void *body(void *arg)
{
	long own = 0;

	for (int i = 0; i < 800; i++) {
		own += use_stack(i & 63);
		nap(5000);
	}
	__atomic_fetch_add(&sum, own, __ATOMIC_RELAXED);
	return arg;
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t threads[THREADS];
	char *memory = mmap(NULL, THREADS * 2 * STACK, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	expect(memory != MAP_FAILED);
	expect(pthread_attr_init(&attr) == 0);
	for (int i = 0; i < THREADS; i++) {
		char *stack = memory + (2 * i + 1) * STACK;

		expect(mprotect(stack, STACK, PROT_READ | PROT_WRITE) == 0);
		expect(pthread_attr_setstack(&attr, stack, STACK) == 0);
		expect(pthread_create(&threads[i], &attr, body, NULL) == 0);
	}
	for (int i = 0; i < THREADS; i++)
		expect(pthread_join(threads[i], NULL) == 0);
	say("sum %ld", sum);
	return 0;
}
