/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More than the hardware covers: `table` writes some elements of a table of 256 bytes in two
 * threads, reads one, lets the kernel write one, and touches what lies beside it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

struct {
	int before;
	volatile int table[64];
	int after;
} all;

volatile int (*volatile way)[64] = &all.table;

/* On a page of its own: by the hardware, while the table is a region. */
static volatile int apart __attribute__((aligned(4096)));

static __attribute__((noinline)) void set(int at, int to)
{
	all.table[at] = to; /* the write */
}

static __attribute__((noinline)) int get(int at)
{
	return all.table[at]; /* the read */
}

static void *work(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 64; i += 16)
		set(i, 100 + i);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int ends[2], sum;
	volatile char *block;

	usleep(100000); /* pointers are looked at meanwhile */
	pthread_create(&thread, NULL, work, "writer");
	pthread_join(thread, NULL);
	set(63, 7);
	set(63, 8);
	*(volatile int *)&all.before = 1;
	*(volatile int *)&all.after = 1;
	apart = 3;
	if (pipe(ends) || write(ends[1], "12345678", 8) != 8 ||
	    read(ends[0], (void *)&all.table[4], 8) != 8)
		return 1;
	sum = get(63) + get(16);
	block = malloc(100);
	if (!block)
		return 1;
	block[0] = 1;
	block[99] = 2; /* the block's end */
	free((void *)block);
	printf("%d\n", sum);
	return 7;
}
