/* SPDX-License-Identifier: Apache-2.0 */
/* Hazard pointers: readers announce what they use, the writer frees the rest. */
#include "../harness.h"
#include <stdatomic.h>

#define READERS 16

struct node {
	int value;
	int check;
};

static _Atomic(struct node *) current;
static _Atomic(struct node *) hazards[READERS];
static atomic_int broken;

static void *reader(void *arg)
{
	_Atomic(struct node *) *hazard = &hazards[(intptr_t)arg % READERS];

	while (running()) {
		struct node *node;

		do {
			node = atomic_load(&current);
			atomic_store(hazard, node);
		} while (node != atomic_load(&current));
		if (node->check != ~node->value)
			atomic_store(&broken, 1);
		atomic_store_explicit(hazard, NULL, memory_order_release);
		pace_hot();
	}
	return NULL;
}

static int is_used(struct node *node)
{
	for (int i = 0; i < READERS; i++) {
		if (atomic_load(&hazards[i]) == node)
			return 1;
	}
	return 0;
}

static void *writer(void *arg)
{
	int value = 0;

	(void)arg;
	while (running()) {
		struct node *next = malloc(sizeof(*next));
		struct node *old;

		if (!next)
			exit(2);
		next->value = ++value;
		next->check = ~value;
		old = atomic_exchange(&current, next);
		while (is_used(old))
			nap(50);
		free(old);
		nap(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct node *first;

	harness_init(argc, argv, 4);
	first = calloc(1, sizeof(*first));
	if (!first)
		return 2;
	first->check = ~0;
	atomic_store(&current, first);
	harness_start(reader, harness_threads - 1 < READERS ? harness_threads - 1 : READERS);
	harness_start(writer, 1);
	harness_finish();
	free(atomic_load(&current));
	return atomic_load(&broken);
}
