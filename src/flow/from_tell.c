/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that `trapline flow from` has found, as findings. */
#include "flow/from.h"

#include "flow/tell.h"

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

/* What of the writer's sources is no further value, or has no answer. */
static void tell_ends(struct flow_tree *tree, uint32_t writer, struct flow_finding *finding)
{
	static const char *const names[] = {"end-1", "end-2", "end-3", "end-4"};
	unsigned count = 0;

	for (uint32_t i = 0; i < tree->values && count < 4; i++) {
		const struct flow_value *value = &tree->value[i];

		if (value->writer != writer || value->confirmed)
			continue;
		if (value->state == FLOW_VALUE_ENDED)
			flow_detail(finding, names[count++], "%s", value->end);
		else if (value->state == FLOW_VALUE_SOUGHT)
			flow_detail(finding, names[count++],
				    value->called
					    ? "not followed: the call by a pointer that it came "
					      "through was not seen before the store"
					    : "not followed: its load was not seen before the "
					      "store");
		else
			flow_detail(finding, names[count++],
				    value->only_writer ||
						    flow_tree_goal(tree, value) != value->writer
					    ? "not followed: what passes through here was not seen "
					      "to go on"
					    : "memory that nobody was seen to write");
	}
}

void flow_from_tell(struct flow_tree *tree, uint32_t index)
{
	const struct flow_writer *writer = &tree->writer[index];
	const struct flow_value *value = &tree->value[writer->value];
	struct flow_finding finding = {.kind = "flow-step", .rank = index + 1};
	uint32_t reader;

	if (writer->place == FLOW_NOWHERE || !is_told(tree, index) || node_of(tree, index) != index)
		return;
	flow_add_place(&finding, &tree->places.place[writer->place],
		       TL_WRITE | (writer->kernel ? TL_KERNEL : 0), value->address, value->length);
	reader = value->reader ? flow_place_find(&tree->places, value->pid, value->reader)
			       : FLOW_NOWHERE;
	if (reader != FLOW_NOWHERE)
		flow_add_place(&finding, &tree->places.place[reader], TL_READ, value->address,
			       value->length);
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
		tell_ends(tree, index, &finding);
	flow_tell(tree->host, tree->services, &finding);
}
