/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _Atomic variables used without any function: `x`, `x = y`, through pointers, typedefs and
 * arrays.  Nothing in these lines says "atomic"; the types do.
 */
#include "../harness.h"
#include <stdatomic.h>

typedef _Atomic(int) level_t;

struct device {
	char name[20];
	level_t level;
	_Atomic(struct device *) next;
};

static level_t levels[4];
static struct device devices[2];
static _Atomic(struct device *) selected = &devices[0];

static void *drive(void *arg)
{
	unsigned turn = (unsigned)(uintptr_t)arg;

	while (running()) {
		struct device *device = selected;

		device->level = (int)turn;
		device->next = &devices[turn & 1];
		levels[turn & 3] = device->level;
		selected = &devices[++turn & 1];
		pace_hot();
	}
	return NULL;
}

static void *look(void *arg)
{
	level_t *level = levels;

	(void)arg;
	while (running()) {
		struct device *device = selected;

		consume(device->level);
		consume(device->next);
		for (int i = 0; i < 4; i++)
			consume(level[i]);
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(drive, harness_threads / 2);
	harness_start(look, harness_threads - harness_threads / 2);
	return harness_finish();
}
