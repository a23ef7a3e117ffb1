/* SPDX-License-Identifier: Apache-2.0 */
/* The predicate of a condition variable is changed without the mutex. */
#include "../harness.h"
#include <errno.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int pending;

static void *signal_work(void *arg)
{
	(void)arg;
	while (running()) {
		pending = 1; /* RACE a */
		pthread_cond_signal(&changed);
		nap(1500);
	}
	return NULL;
}

static void *wait_for_work(void *arg)
{
	struct timespec limit;

	(void)arg;
	while (running()) {
		pthread_mutex_lock(&lock);
		clock_gettime(CLOCK_REALTIME, &limit);
		limit.tv_sec += 1;
		while (!pending) { /* RACE a */
			if (pthread_cond_timedwait(&changed, &lock, &limit) == ETIMEDOUT)
				break;
		}
		pending = 0; /* RACE a */
		pthread_mutex_unlock(&lock);
		work(500);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(signal_work, harness_threads - 1);
	harness_start(wait_for_work, 1);
	return harness_finish();
}
