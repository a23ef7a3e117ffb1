/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bit-field and a member beside it, each its own thread's: two memory locations (C11 3.14). GCC
 * loads both by one word and throws away what it was not asked for.
 */
#include "../harness.h"

static struct {
	unsigned length : 20;
	unsigned char kind; /* the fourth byte */
} entry;

static void *reader(void *arg)
{
	unsigned long sum = 0;

	while (running()) {
		sum += entry.length;
		if (entry.length == 77)
			sum++;
		pace_hot();
	}
	consume(sum);
	return arg;
}

static void *writer(void *arg)
{
	while (running()) {
		entry.kind++;
		pace_hot();
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	entry.length = 77;
	harness_start(reader, harness_threads > 2 ? harness_threads - 1 : 1);
	harness_start(writer, 1);
	return harness_finish();
}
