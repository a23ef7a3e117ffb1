/* SPDX-License-Identifier: Apache-2.0 */
/* Relaxed accesses written as inline assembly, one MOV each, with LOCK only for the additions. */
#include "../harness.h"

static unsigned long sequence;
static unsigned int pressure;

static inline unsigned long load_long(const unsigned long *from)
{
	unsigned long value;

	__asm__ volatile("movq %1, %0" : "=r"(value) : "m"(*from));
	return value;
}

static inline void store_long(unsigned long *to, unsigned long value)
{
	__asm__ volatile("movq %1, %0" : "=m"(*to) : "r"(value));
}

static inline void add_int(unsigned int *to, unsigned int value)
{
	__asm__ volatile("lock addl %1, %0" : "+m"(*to) : "r"(value) : "cc");
}

static void *writer(void *arg)
{
	unsigned long value = (uintptr_t)arg;

	while (running()) {
		store_long(&sequence, value++);
		add_int(&pressure, 1);
		pace_hot();
	}
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	while (running()) {
		unsigned int seen;

		consume(load_long(&sequence));
		__asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(pressure));
		consume(seen);
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(writer, 1);
	harness_start(reader, harness_threads - 1);
	return harness_finish();
}
