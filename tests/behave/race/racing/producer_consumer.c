/* SPDX-License-Identifier: Apache-2.0 */
/* Slots are guarded by semaphores, but the count of what is inside is not. */
#include "../harness.h"
#include <semaphore.h>

#define SLOTS 8

static sem_t empty, full;
static pthread_mutex_t put_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t take_lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static unsigned in, out;
static int slots[SLOTS];

static void *produce(void *arg)
{
	(void)arg;
	while (running()) {
		sem_wait(&empty);
		pthread_mutex_lock(&put_lock);
		slots[in++ % SLOTS] = 1;
		count++; /* RACE a */
		pthread_mutex_unlock(&put_lock);
		sem_post(&full);
		pace_warm();
	}
	sem_post(&full);
	return NULL;
}

static void *take(void *arg)
{
	(void)arg;
	while (running()) {
		sem_wait(&full);
		pthread_mutex_lock(&take_lock);
		consume(slots[out++ % SLOTS]);
		count--; /* RACE a */
		pthread_mutex_unlock(&take_lock);
		sem_post(&empty);
	}
	sem_post(&empty);
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	sem_init(&empty, 0, SLOTS);
	sem_init(&full, 0, 0);
	harness_start(produce, harness_threads / 2);
	harness_start(take, harness_threads - harness_threads / 2);
	return harness_finish();
}
