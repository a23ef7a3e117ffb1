/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that `trapline flow from` has found, as findings. */
#include "flow/from.h"

#include "flow/tell.h"

#include <stdio.h>

static bool is_told(const struct flow_tree *tree, uint32_t writer)
{
	return !tree->writer[writer].revoked &&
	       !flow_tree_is_void(tree, &tree->value[tree->writer[writer].value]);
}

/* Nodes that are the same code and ask for the same reader are one finding. */
static uint32_t node_of(const struct flow_tree *tree, uint32_t writer)
{
	uint64_t reader = tree->value[tree->writer[writer].value].reader;

	for (uint32_t i = 0; i < writer; i++)
		if (is_told(tree, i) && tree->writer[i].pc == tree->writer[writer].pc &&
		    tree->value[tree->writer[i].value].reader == reader)
			return i;
	return writer;
}

static const char *why_unanswered(const struct flow_tree *tree, const struct flow_value *value)
{
	if (value->state == FLOW_VALUE_ENDED)
		return value->end;
	if (value->state == FLOW_VALUE_SOUGHT)
		return value->called ? "not followed: the call by a pointer that it came through "
				       "was not seen before the store"
				     : "not followed: its load was not seen before the store";
	return value->only_writer || flow_tree_goal(tree, value) != value->writer
		       ? "not followed: what passes through here was not seen to go on"
		       : "memory that nobody was seen to write";
}

/* What of the writer's sources is no further value, or has no answer. */
static bool end_of_source(void *state, uint32_t writer, uint32_t index, char *text)
{
	const struct flow_tree *tree = state;
	const struct flow_value *value = &tree->value[index];

	if (value->writer != writer || value->confirmed)
		return false;
	snprintf(text, FLOW_DETAIL_TEXT, "%s", why_unanswered(tree, value));
	return true;
}

void flow_from_tell(struct flow_tree *tree, uint32_t index)
{
	const struct flow_writer *writer = &tree->writer[index];
	const struct flow_value *value = &tree->value[writer->value];
	struct flow_finding finding = {.kind = "flow-step", .rank = index + 1};
	const uint64_t load[2] = {value->reader, value->context};
	uint32_t reader;

	if (writer->place == FLOW_NOWHERE || !is_told(tree, index) || node_of(tree, index) != index)
		return;
	flow_add_place(&finding, &tree->places.place[writer->place],
		       TL_WRITE | (writer->kernel ? TL_KERNEL : 0), value->address, value->length);
	finding.access[0].tid = writer->way.tid;
	flow_add_stack(&finding, writer->way.pc, writer->way.count);
	reader = value->reader ? flow_place_find(&tree->places, value->pid, value->reader)
			       : FLOW_NOWHERE;
	if (reader != FLOW_NOWHERE) {
		flow_add_place(&finding, &tree->places.place[reader], TL_READ, value->address,
			       value->length);
		flow_add_stack(&finding, load, value->context ? 2 : 1);
	}
	flow_detail(&finding, "node", "%u", index);
	if (value->writer != FLOW_NONE)
		flow_detail(&finding, "parent", "%u", node_of(tree, value->writer));
	flow_detail(&finding, "percent", "%.1f",
		    value->confirmed ? 100 * (double)writer->count / (double)value->confirmed : 0);
	flow_detail(&finding, "seen", "%llu", (unsigned long long)writer->count);
	flow_detail(&finding, "address", "0x%llx", (unsigned long long)value->address);
	if (writer->repeats != FLOW_NONE)
		flow_detail(&finding, "repeats", "%u", node_of(tree, writer->repeats));
	else
		flow_add_ends(&finding, tree, index, tree->values, end_of_source);
	flow_tell(tree->host, tree->services, &finding);
}
