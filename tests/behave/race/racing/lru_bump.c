/* SPDX-License-Identifier: Apache-2.0 */
/* Items live under striped locks, but two items of different stripes share an LRU's tail. */
#include "../harness.h"

#define ITEMS 32
#define STRIPES 8

struct item {
	unsigned time;
	unsigned flags;
};

static pthread_mutex_t stripes[STRIPES];
static struct item items[ITEMS];
static struct item *tail;
static unsigned moves;

static void bump(unsigned index)
{
	struct item *item = &items[index];

	pthread_mutex_lock(&stripes[index % STRIPES]);
	item->time++;
	item->flags |= 4;
	if (tail != item) {  /* RACE a */
		tail = item; /* RACE a */
		moves++;     /* RACE b */
	}
	pthread_mutex_unlock(&stripes[index % STRIPES]);
}

static void *touch(void *arg)
{
	unsigned index = (unsigned)(uintptr_t)arg;

	while (running()) {
		index = index * 1664525 + 1013904223;
		bump((index >> 10) % ITEMS);
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	for (int i = 0; i < STRIPES; i++)
		pthread_mutex_init(&stripes[i], NULL);
	harness_start(touch, harness_threads);
	return harness_finish();
}
