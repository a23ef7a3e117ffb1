/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer that changes hands by two semaphores. */
#include "../harness.h"
#include <semaphore.h>

static sem_t empty, full;
static char buffer[256];

static void *fill(void *arg)
{
	int value = 0;

	(void)arg;
	while (running()) {
		sem_wait(&empty);
		memset(buffer, ++value, sizeof(buffer));
		sem_post(&full);
		nap(300);
	}
	sem_post(&full);
	return NULL;
}

static void *drain(void *arg)
{
	char copy[sizeof(buffer)];

	(void)arg;
	while (running()) {
		sem_wait(&full);
		memcpy(copy, buffer, sizeof(buffer));
		consume(copy[3]);
		sem_post(&empty);
	}
	sem_post(&empty);
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	sem_init(&empty, 0, 1);
	sem_init(&full, 0, 0);
	harness_start(fill, 1);
	harness_start(drain, 1);
	return harness_finish();
}
