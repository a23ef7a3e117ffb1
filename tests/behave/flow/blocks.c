/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that live for a short while: their memory is given out again to others, who store decoys
 * at the same place and read them there. The values go by `made`, a block that make_node()
 * allocates and `result`.
 *
 * usage: blocks node SECONDS
 */
#include "kinds.h"

struct node {
	char before[32];
	uint64_t value;
	char behind[32];
};

static uint64_t elsewhere;

static APART struct node *make_node(void)
{
	struct node *node = malloc(sizeof(*node));

	if (!node)
		abort();
	return node;
}

static APART void fill_node(struct node *node)
{
	node->value = made;
}

static APART void finish_node(struct node *node)
{
	result = node->value;
}

static APART struct node *make_other(void)
{
	struct node *node = malloc(sizeof(*node));

	if (!node)
		abort();
	node->before[0] = 1;
	return node;
}

static APART void fill_other(struct node *node)
{
	node->value = decoy;
}

static APART void finish_other(struct node *node)
{
	elsewhere = node->value;
}

static void through_node(void)
{
	struct node *node = make_node();

	fill_node(node);
	finish_node(node);
	free(node);
	node = make_other();
	fill_other(node);
	finish_other(node);
	free(node);
}

static const struct road roads[] = {{"node", through_node}};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
