/* SPDX-License-Identifier: Apache-2.0 */
/* A routing table read under the read lock and rewritten under the write lock. */
#include "../harness.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int routes[64];

static void *forward(void *arg)
{
	unsigned turn = (unsigned)(uintptr_t)arg;

	while (running()) {
		pthread_rwlock_rdlock(&lock);
		consume(routes[turn++ % 64]);
		pthread_rwlock_unlock(&lock);
		pace_warm();
	}
	return NULL;
}

static void *update(void *arg)
{
	(void)arg;
	while (running()) {
		pthread_rwlock_wrlock(&lock);
		for (int i = 0; i < 64; i++)
			routes[i]++;
		pthread_rwlock_unlock(&lock);
		nap(3000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 5);
	harness_start(forward, harness_threads - 1);
	harness_start(update, 1);
	return harness_finish();
}
