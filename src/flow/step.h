/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of a tree of values (flow/origin_tree.h, flow/goal_tree.h) as a finding. Both trees have
 * the same shape: of a place in memory it is asked who accesses it, and each answer is a node,
 * whose instructions tell which places are asked about next.
 */
#ifndef FLOW_STEP_H
#define FLOW_STEP_H

#include "flow/origin_tree.h"

/* A node, and the place that it is an answer for. */
struct flow_step {
	unsigned access; /* what the node does there: TL_READ or TL_WRITE, and TL_KERNEL */
	uint64_t pc;
	uint32_t place; /* of the node's instruction; FLOW_NOWHERE: none */
	const struct flow_way_there *way;
	uint32_t parent;  /* the node that asks for this place; FLOW_NONE: the expression */
	uint32_t repeats; /* the node further up that it is again; FLOW_NONE */
	uint64_t count, confirmed; /* accesses of the node's, of all nodes of this place */
	pid_t pid;
	uint64_t address, length;
	/* The parent's instruction that accesses the place as well, and where its function returns
	 * to; 0: any, not known. */
	uint64_t other, context;
};

struct flow_steps {
	void *tree;
	struct flow_places *places;
	uint32_t nodes, items; /* items: places that are asked about */
	/* False: the node is not to be told. `step` is filled in either way. */
	bool (*step)(const void *tree, uint32_t node, struct flow_step *step);
	/* Writes why an item, which node `parent` asks for, goes no further. False: the node does
	 * not ask for it, or it goes on. `text` has FLOW_DETAIL_TEXT bytes. */
	bool (*end)(void *tree, uint32_t parent, uint32_t item, char *text);
};

/* All nodes, but those that are none. */
void flow_steps_tell(const struct flow_steps *steps);

#endif
