// SPDX-License-Identifier: Apache-2.0
/*
 * An inherited watchpoint is enabled while the thread that has it is in clone(2). Every thread must
 * be covered once PERF_EVENT_IOC_ENABLE has returned. The child copies an event that is still off,
 * and contexts of parent and child are then taken for clones of each other and exchanged at a
 * switch (perf_event_context_sched_out()): hits are lost in the child, or in its creator.
 */
#include "kernel.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { CHILDREN = 64 };
static volatile long watched;
static atomic_int hits, go;

static void count(int number)
{
	hits += number == SIGTRAP;
}

static void *write_once(void *unused)
{
	while (!go)
		usleep(50);
	watched = 1;
	return unused;
}

static void *create(void *threads)
{
	for (int i = 0; i < CHILDREN; i++)
		pthread_create((pthread_t *)threads + i, NULL, write_once, NULL);
	return write_once(NULL);
}

int main(void)
{
	int lost = 0, rounds = 200;

	signal(SIGTRAP, count);
	for (int round = 0; round < rounds; round++) {
		pthread_t creator, threads[CHILDREN];
		int fd = kernel_open_inherited((void *)&watched);

		if (fd < 0)
			return kernel_cannot("perf_event_open");
		hits = go = 0;
		pthread_create(&creator, NULL, create, threads);
		usleep(round * 7 % 1000); /* anywhere in the creations */
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		go = 1;
		pthread_join(creator, NULL);
		for (int i = 0; i < CHILDREN; i++)
			pthread_join(threads[i], NULL);
		lost += CHILDREN + 1 - hits;
		close(fd);
	}
	return kernel_verdict(lost == 0, "%d of %d hits lost", lost, rounds * (CHILDREN + 1));
}
