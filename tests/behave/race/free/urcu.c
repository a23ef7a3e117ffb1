/* SPDX-License-Identifier: Apache-2.0 */
/* liburcu: readers without locks, a writer that replaces and reclaims. */
#define _LGPL_SOURCE
#include "../harness.h"
#include <urcu.h>

struct config {
	int version;
	int twice;
};

static struct config *current;
static int broken;

static void *reader(void *arg)
{
	(void)arg;
	rcu_register_thread();
	while (running()) {
		struct config *config;

		rcu_read_lock();
		config = rcu_dereference(current);
		if (config->twice != 2 * config->version)
			__atomic_store_n(&broken, 1, __ATOMIC_RELAXED);
		rcu_read_unlock();
		pace_hot();
	}
	rcu_unregister_thread();
	return NULL;
}

static void *writer(void *arg)
{
	int version = 0;

	(void)arg;
	rcu_register_thread();
	while (running()) {
		struct config *next = malloc(sizeof(*next));
		struct config *old = current;

		if (!next)
			exit(2);
		next->version = ++version;
		next->twice = 2 * version;
		rcu_assign_pointer(current, next);
		synchronize_rcu();
		free(old);
		nap(2000);
	}
	rcu_unregister_thread();
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	current = calloc(1, sizeof(*current));
	if (!current)
		return 2;
	harness_start(reader, harness_threads - 1);
	harness_start(writer, 1);
	harness_finish();
	free(current);
	return broken;
}
