/* SPDX-License-Identifier: Apache-2.0 */
/* Two paths to one queue length, each under a lock of its own. */
#include "../harness.h"

static pthread_mutex_t push_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pop_lock = PTHREAD_MUTEX_INITIALIZER;
static long length;

static void *push(void *arg)
{
	(void)arg;
	while (running()) {
		pthread_mutex_lock(&push_lock);
		length++; /* RACE a */
		pthread_mutex_unlock(&push_lock);
		pace_warm();
	}
	return NULL;
}

static void *pop(void *arg)
{
	(void)arg;
	while (running()) {
		pthread_mutex_lock(&pop_lock);
		length--; /* RACE a */
		pthread_mutex_unlock(&pop_lock);
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(push, harness_threads / 2);
	harness_start(pop, harness_threads - harness_threads / 2);
	return harness_finish();
}
