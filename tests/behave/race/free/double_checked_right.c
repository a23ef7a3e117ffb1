/* SPDX-License-Identifier: Apache-2.0 */
/* Double-checked locking done right: acquire on the fast path, release on publication. */
#include "../harness.h"

struct service {
	int port;
	int generation;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct service *services[64];

static struct service *get(unsigned index)
{
	struct service *service = __atomic_load_n(&services[index], __ATOMIC_ACQUIRE);

	if (service)
		return service;
	pthread_mutex_lock(&lock);
	service = services[index];
	if (!service) {
		service = malloc(sizeof(*service));
		if (!service)
			exit(2);
		service->port = 8000 + (int)index;
		service->generation = 1;
		__atomic_store_n(&services[index], service, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return service;
}

static void *use(void *arg)
{
	unsigned turn = (unsigned)(uintptr_t)arg;

	while (running()) {
		consume(get(turn++ / 64 % 64)->port);
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 6);
	harness_start(use, harness_threads);
	return harness_finish();
}
