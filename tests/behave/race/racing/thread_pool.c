/* SPDX-License-Identifier: Apache-2.0 */
/* A pool whose workers store each result without the lock that its readers hold. */
#include "../harness.h"

#define TASKS 32

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int queued;
static long results[TASKS];
static long finished;

static void *pool_worker(void *arg)
{
	(void)arg;
	for (;;) {
		int task;

		pthread_mutex_lock(&lock);
		while (!queued && running())
			pthread_cond_wait(&more, &lock);
		if (!running()) {
			pthread_mutex_unlock(&lock);
			return NULL;
		}
		task = --queued;
		pthread_mutex_unlock(&lock);
		work(2000);
		results[task % TASKS] = task; /* RACE a */
		finished++;		      /* RACE b */
	}
}

static void *submit(void *arg)
{
	(void)arg;
	while (running()) {
		pthread_mutex_lock(&lock);
		queued = TASKS;
		pthread_cond_broadcast(&more);
		for (int i = 0; i < TASKS; i++)
			consume(results[i]); /* RACE a */
		consume(finished);	     /* RACE b */
		pthread_mutex_unlock(&lock);
		nap(2000);
	}
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 8);
	harness_start(pool_worker, harness_threads - 1);
	harness_start(submit, 1);
	return harness_finish();
}
