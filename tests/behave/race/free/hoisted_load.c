/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that would read or count in the other threads' variables if their threads ever came to it:
 * compilers load these in front of the loop, and leave them unused. */
#include "../harness.h"

#define LENGTH 64

struct entry {
	struct entry *next;
	int mark;
};

static long total, largest;
static struct entry numbers[LENGTH], marks[LENGTH];

static __attribute__((noinline)) long sum_where(const struct entry *entry, int wanted)
{
	long sum = 0;

	for (; entry; entry = entry->next)
		if (entry->mark == wanted)
			sum += largest;
	return sum;
}

static __attribute__((noinline)) void count_where(const struct entry *entry, int wanted)
{
	for (; entry; entry = entry->next)
		if (entry->mark == wanted)
			total += wanted;
}

static void *owner(void *arg)
{
	while (running()) {
		largest++;
		total++;
		count_where(marks, 1);
		consume((int)sum_where(marks, 1));
		pace_hot();
	}
	return arg;
}

static void *visitor(void *arg)
{
	while (running()) {
		consume((int)sum_where(numbers, 1));
		count_where(numbers, 1);
		pace_hot();
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	for (int i = 0; i < LENGTH; i++) {
		marks[i].mark = i % 2;
		marks[i].next = i + 1 < LENGTH ? &marks[i + 1] : NULL;
		numbers[i].next = i + 1 < LENGTH ? &numbers[i + 1] : NULL;
	}
	harness_start(owner, 1);
	harness_start(visitor, harness_threads - 1);
	return harness_finish();
}
