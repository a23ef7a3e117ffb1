/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of one writer and one reader, as DPDK's older ones are: volatile indices, and barriers by
 * macros that on x86 stop the compiler alone.
 */
#include "../harness.h"

#define rte_compiler_barrier()                     \
	do {                                       \
		__asm__ volatile("" ::: "memory"); \
	} while (0)
#define rte_smp_wmb() rte_compiler_barrier()
#define rte_smp_rmb() rte_compiler_barrier()

#define SLOTS 64

static struct {
	volatile unsigned write;
	char apart[60];
	volatile unsigned read;
	unsigned long slot[SLOTS];
} fifo;

static __attribute__((noinline)) int put(unsigned long value)
{
	unsigned write = fifo.write;

	if (write - fifo.read == SLOTS)
		return 0;
	fifo.slot[write % SLOTS] = value;
	rte_smp_wmb();
	fifo.write = write + 1;
	return 1;
}

static __attribute__((noinline)) int get(unsigned long *value)
{
	unsigned read = fifo.read;

	if (fifo.write == read)
		return 0;
	rte_smp_rmb();
	*value = fifo.slot[read % SLOTS];
	rte_smp_wmb();
	fifo.read = read + 1;
	return 1;
}

static void *writer(void *arg)
{
	for (unsigned long value = 1; running();) {
		value += (unsigned)put(value);
		pace_hot();
	}
	return arg;
}

static void *reader(void *arg)
{
	unsigned long value, expected = 1;

	while (running()) {
		if (get(&value) && value != expected++)
			exit(1);
		pace_hot();
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(writer, 1);
	harness_start(reader, 1);
	return harness_finish();
}
