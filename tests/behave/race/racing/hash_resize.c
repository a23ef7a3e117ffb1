/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table is resized under its lock while the fast path looks keys up without it. */
#include "../harness.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned small_buckets[64];
static unsigned large_buckets[128];
static unsigned *buckets = small_buckets;
static unsigned mask = 63;

static unsigned look_up(unsigned key)
{
	unsigned place = key & mask & 63; /* RACE a */

	return buckets[place]; /* RACE b */
}

static void resize(int larger)
{
	pthread_mutex_lock(&lock);
	mask = larger ? 127 : 63;			  /* RACE a */
	buckets = larger ? large_buckets : small_buckets; /* RACE b */
	pthread_mutex_unlock(&lock);
}

static void *search(void *arg)
{
	unsigned key = (unsigned)(uintptr_t)arg;

	while (running()) {
		key = key * 1664525 + 1013904223;
		consume(look_up(key >> 8));
		pace_warm();
	}
	return NULL;
}

static void *grow_and_shrink(void *arg)
{
	int larger = 0;

	(void)arg;
	while (running()) {
		resize(larger ^= 1);
		nap(5000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(search, harness_threads - 1);
	harness_start(grow_and_shrink, 1);
	return harness_finish();
}
