/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes are pushed on a list by two threads while others walk it; nobody locks. */
#include "../harness.h"

#define NODES 4096

struct node {
	struct node *next;
	int key;
};

static struct node *head;
static struct node nodes[2][NODES];

static void *push(void *arg)
{
	struct node *mine = nodes[(intptr_t)arg];
	unsigned used = 0;

	while (running()) {
		struct node *node = &mine[used++ % NODES];
		struct node *first = head; /* RACE a */

		node->key = (int)used;		       /* RACE b */
		node->next = used % 16 ? first : NULL; /* RACE a b */
		head = node;			       /* RACE a */
		pace_warm();
	}
	return NULL;
}

static void *walk(void *arg)
{
	(void)arg;
	while (running()) { /* RACE a: clang gives the load below no line of its own */
		struct node *node = head; /* RACE a */

		for (int i = 0; node && i < 16; i++) {
			consume(node->key); /* RACE b */
			node = node->next;  /* RACE b */
		}
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 5);
	harness_start(push, 2);
	harness_start(walk, harness_threads - 2);
	return harness_finish();
}
