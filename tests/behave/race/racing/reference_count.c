/* SPDX-License-Identifier: Apache-2.0 */
/* A plain reference count: taken and dropped by everybody. */
#include "../harness.h"

struct object {
	int references;
	char payload[100];
};

static struct object *object;

static void hold(struct object *o)
{
	o->references++; /* RACE a */
}

static void drop(struct object *o)
{
	o->references--; /* RACE a */
}

static void *use(void *arg)
{
	(void)arg;
	while (running()) {
		hold(object);
		work(1000);
		drop(object);
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 6);
	object = calloc(1, sizeof(*object));
	if (!object)
		return 2;
	harness_start(use, harness_threads);
	harness_finish();
	free(object);
	return 0;
}
