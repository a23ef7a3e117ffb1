/* SPDX-License-Identifier: Apache-2.0 */
/* A cache counts its hits while holding its lock for reading only. */
#include "../harness.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct {
	int value;
	unsigned hits;
} entry;

static void *look_up(void *arg)
{
	(void)arg;
	while (running()) {
		pthread_rwlock_rdlock(&lock);
		consume(entry.value);
		entry.hits++; /* RACE a */
		pthread_rwlock_unlock(&lock);
		pace_warm();
	}
	return NULL;
}

static void *change(void *arg)
{
	(void)arg;
	while (running()) {
		pthread_rwlock_wrlock(&lock);
		entry.value++;
		pthread_rwlock_unlock(&lock);
		nap(10000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(look_up, harness_threads - 1);
	harness_start(change, 1);
	return harness_finish();
}
