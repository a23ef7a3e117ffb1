/* SPDX-License-Identifier: Apache-2.0 */
/* Double-checked locking with a plain pointer: the fast path reads what the lock protects. */
#include "../harness.h"

struct service {
	int port;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct service instances[2];
static struct service *current;

static struct service *get_service(int which)
{
	if (current)		/* RACE a */
		return current; /* RACE a */
	pthread_mutex_lock(&lock);
	if (!current)
		current = &instances[which & 1]; /* RACE a */
	pthread_mutex_unlock(&lock);
	return &instances[0];
}

static void *use(void *arg)
{
	(void)arg;
	while (running()) {
		consume(get_service(1));
		pace_warm();
	}
	return NULL;
}

static void *restart(void *arg)
{
	(void)arg;
	while (running()) {
		pthread_mutex_lock(&lock);
		current = NULL; /* RACE a */
		pthread_mutex_unlock(&lock);
		nap(2000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(use, harness_threads - 1);
	harness_start(restart, 1);
	return harness_finish();
}
