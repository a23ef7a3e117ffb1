/* SPDX-License-Identifier: Apache-2.0 */
/* Everyone writes the depth under the lock, and peeks at it without. */
#include "../harness.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned depth;

static void *worker(void *arg)
{
	(void)arg;
	while (running()) {
		if (depth < 1000) { /* RACE a */
			pthread_mutex_lock(&lock);
			depth++; /* RACE a */
			pthread_mutex_unlock(&lock);
		} else {
			pthread_mutex_lock(&lock);
			depth = 0; /* RACE a */
			pthread_mutex_unlock(&lock);
		}
		nap(8000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 32);
	harness_start(worker, harness_threads);
	return harness_finish();
}
