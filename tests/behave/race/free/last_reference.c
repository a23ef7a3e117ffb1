/* SPDX-License-Identifier: Apache-2.0 */
/* Objects shared by a count of references; whoever drops the last one clears and fills them anew,
 * the counter's own bytes included, by plain stores and memset. */
#include "../harness.h"
#include <stdatomic.h>

#define OBJECTS 4

struct object {
	union {
		atomic_int references;
		int initial; /* as long as nobody else knows the object */
	} count;
	int length;
	char text[48];
};

static struct object objects[OBJECTS];
static atomic_int generation[OBJECTS];

static void renew(struct object *object, int length)
{
	memset(object, 0, sizeof(*object));
	object->count.initial = harness_threads;
	object->length = length;
	memset(object->text, length, sizeof(object->text));
}

static void release(int index, struct object *object)
{
	if (atomic_fetch_sub_explicit(&object->count.references, 1, memory_order_acq_rel) != 1)
		return;
	renew(object, (object->length + 1) & 31);
	atomic_fetch_add_explicit(&generation[index], 1, memory_order_release);
}

/* Each thread drops its reference to each generation of an object once. */
static void *run(void *arg)
{
	int seen[OBJECTS];

	(void)arg;
	memset(seen, -1, sizeof(seen));
	while (running()) {
		for (int i = 0; i < OBJECTS; i++) {
			int now = atomic_load_explicit(&generation[i], memory_order_acquire);

			if (now == seen[i])
				continue;
			seen[i] = now;
			consume(objects[i].text[7]);
			release(i, &objects[i]);
		}
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	for (int i = 0; i < OBJECTS; i++)
		renew(&objects[i], i);
	harness_start(run, harness_threads);
	return harness_finish();
}
