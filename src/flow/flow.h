/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `trapline flow from` and `flow to`: where the values of an expression come from, and where they
 * go. Tools on <trapline/tool.h>.
 *
 * The room holds the expression (expression.h), the tree of values that is found (origin_tree.h;
 * goal_tree.h for `to`), whose turn it is and the watches of a question (asking.h), what the hits
 * of a question mean (from.h with passage.h, to.h with onward.h), and the findings (step.h). It
 * promises that an edge of the tree is told only where a value was seen to go along it, in one
 * thread. The controller's thread runs all of it.
 */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include <trapline/tool.h>

extern const struct tl_tool flow_from_tool;	 /* where the values of an expression come from */
extern const struct tl_tool flow_from_heap_tool; /* of heap:SIZE@function */
extern const struct tl_tool flow_to_tool;	 /* where they go */
extern const struct tl_tool flow_to_heap_tool;

#endif
