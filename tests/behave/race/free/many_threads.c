/* SPDX-License-Identifier: Apache-2.0 */
/* 256 threads that mostly sleep, with one relaxed counter and one mutex between them. */
#include "../harness.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long guarded;
static long relaxed;

static void *connection(void *arg)
{
	nap(100 * (unsigned)(uintptr_t)arg);
	while (running()) {
		pthread_mutex_lock(&lock);
		guarded++;
		pthread_mutex_unlock(&lock);
		__atomic_store_n(&relaxed, __atomic_load_n(&relaxed, __ATOMIC_RELAXED) + 1,
				 __ATOMIC_RELAXED);
		nap(40000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 256);
	harness_start(connection, harness_threads);
	return harness_finish();
}
