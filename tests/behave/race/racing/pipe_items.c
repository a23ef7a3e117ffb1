/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers that sleep and wake all the time, in pairs that send each other a request and its answer
 * over pipes. Each request changes an item under its lock and looks at it again without.
 */
#include "../pairs.h"

#define ITEMS 16

static struct item {
	pthread_mutex_t lock;
	unsigned uses;
	unsigned flags;
} items[ITEMS];
static unsigned seen;

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

		answer_partner(index);
		use(item);
		sum += item->flags & 1; /* RACE a */
		random = random * 1103515245u + 12345u;
	}
	leave_partner(index);
	__atomic_fetch_add(&seen, sum, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	int workers;

	harness_init(argc, argv, 4);
	workers = open_pairs(harness_threads);
	if (!workers)
		return 2;
	for (int i = 0; i < ITEMS; i++)
		pthread_mutex_init(&items[i].lock, NULL);
	harness_start(worker, workers);
	return harness_finish();
}
