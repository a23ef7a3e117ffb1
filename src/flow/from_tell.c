/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that `trapline flow from` has found, as findings. */
#include "flow/from.h"

#include "flow/step.h"
#include "traffic/tell.h"

#include <stdio.h>

static const char *why_unanswered(const struct flow_tree *tree, const struct flow_value *value)
{
	if (value->state == FLOW_VALUE_ENDED)
		return value->end;
	if (value->held)
		return "not followed: what passes through there was seen to go on too seldom";
	if (value->barred_count && value->reads)
		return "not followed: with what was read there the code was not seen to go on";
	if (value->state == FLOW_VALUE_SOUGHT)
		return value->called ? "not followed: the call by a pointer that it came through "
				       "was not seen before the store"
				     : "not followed: its load was not seen before the store";
	if (value->chosen && value->computed)
		return "not followed: one of several was taken, and it was changed: which is not "
		       "known";
	if (value->framed)
		return "not followed: what system calls store there is not seen, where frames of "
		       "signals come to lie";
	if (value->was_sought && !value->reads)
		return "not followed: where it was read before, nobody came to read it again";
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

static bool fill_step(const void *state, uint32_t index, struct flow_step *step)
{
	const struct flow_tree *tree = state;
	const struct flow_writer *writer = &tree->writer[index];
	const struct flow_value *value = &tree->value[writer->value];

	*step = (struct flow_step){.access = TL_WRITE | (writer->kernel ? TL_KERNEL : 0),
				   .pc = writer->pc,
				   .place = writer->place,
				   .way = &writer->way,
				   .parent = value->writer,
				   .repeats = writer->repeats,
				   .count = writer->count,
				   .confirmed = value->confirmed,
				   .pid = value->pid,
				   .address = value->address,
				   .length = value->length,
				   .other = value->reader,
				   .context = value->context};
	return !writer->revoked && !flow_tree_is_void(tree, value);
}

void flow_from_tell(struct flow_tree *tree)
{
	flow_steps_tell(&(struct flow_steps){.tree = tree,
					     .places = &tree->places,
					     .nodes = tree->writers,
					     .items = tree->values,
					     .step = fill_step,
					     .end = end_of_source});
}
