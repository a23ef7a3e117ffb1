/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers that sleep and wake all the time, in pairs that send each other a request and its answer
 * over pipes. Each request changes an item under its lock and looks at it again without.
 */
#include "../harness.h"

#define PAIRS_MAX 8
#define ITEMS 16

static int pipes[2 * PAIRS_MAX][2];
static struct item {
	pthread_mutex_t lock;
	unsigned uses;
	unsigned flags;
} items[ITEMS];
static unsigned seen;

static void answer(int from, int to)
{
	char octet = 0;

	if (read(from, &octet, 1) != 1 || write(to, &octet, 1) != 1)
		__atomic_store_n(&harness_stop, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void use(struct item *item)
{
	pthread_mutex_lock(&item->lock);
	item->uses++;
	item->flags = (item->flags + 1) % 251; /* RACE a */
	pthread_mutex_unlock(&item->lock);
}

static void *worker(void *arg)
{
	intptr_t index = (intptr_t)arg;
	unsigned random = (unsigned)index + 1, sum = 0;

	while (running()) {
		struct item *item = &items[(random >> 16) % ITEMS];

		answer(pipes[index][0], pipes[index ^ 1][1]);
		use(item);
		sum += item->flags & 1; /* RACE a */
		random = random * 1103515245u + 12345u;
	}
	/* The partner may wait. */
	close(pipes[index ^ 1][1]);
	__atomic_fetch_add(&seen, sum, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	int workers;

	harness_init(argc, argv, 4);
	workers = harness_threads < 2 * PAIRS_MAX ? harness_threads & ~1 : 2 * PAIRS_MAX;
	for (int i = 0; i < ITEMS; i++)
		pthread_mutex_init(&items[i].lock, NULL);
	for (int i = 0; i < workers; i++)
		if (pipe(pipes[i]))
			return 2;
	for (int i = 0; i < workers; i += 2)
		if (write(pipes[i][1], "r", 1) != 1)
			return 2;
	harness_start(worker, workers);
	return harness_finish();
}
