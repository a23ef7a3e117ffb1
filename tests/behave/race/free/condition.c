/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue on a mutex and two condition variables. */
#include "../harness.h"

#define SLOTS 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static int slots[SLOTS];
static unsigned in, out;

static void *put(void *arg)
{
	while (running()) {
		pthread_mutex_lock(&lock);
		while (in - out == SLOTS && running())
			pthread_cond_wait(&not_full, &lock);
		slots[in++ % SLOTS] = (int)(intptr_t)arg;
		pthread_mutex_unlock(&lock);
		pthread_cond_signal(&not_empty);
		nap(300);
	}
	pthread_mutex_lock(&lock);
	in++;
	pthread_cond_broadcast(&not_empty);
	pthread_cond_broadcast(&not_full);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *take(void *arg)
{
	(void)arg;
	while (running()) {
		pthread_mutex_lock(&lock);
		while (in == out && running())
			pthread_cond_wait(&not_empty, &lock);
		consume(slots[out++ % SLOTS]);
		pthread_mutex_unlock(&lock);
		pthread_cond_signal(&not_full);
	}
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&not_full);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(put, harness_threads / 2);
	harness_start(take, harness_threads - harness_threads / 2);
	return harness_finish();
}
