/* SPDX-License-Identifier: Apache-2.0 */
/* Places that values pass through on their way to several others. */
#include "flow/origin_tree.h"

static bool is_passed_through(const struct flow_value *value)
{
	return value->strayed >= FLOW_STRAYED && value->writer != FLOW_NONE;
}

uint32_t flow_tree_goal(const struct flow_tree *tree, const struct flow_value *value)
{
	uint32_t writer = value->writer;

	while (is_passed_through(&tree->value[tree->writer[writer].value]))
		writer = tree->value[tree->writer[writer].value].writer;
	return writer;
}

/* Does its goal lie beyond the place? */
static bool goes_through(const struct flow_tree *tree, uint32_t value, uint32_t place)
{
	uint32_t writer = tree->value[value].writer;

	while (writer != FLOW_NONE) {
		value = tree->writer[writer].value;
		if (value == place)
			return true;
		if (!is_passed_through(&tree->value[value]))
			return false;
		writer = tree->value[value].writer;
	}
	return false;
}

static void revoke(struct flow_tree *tree, uint32_t index)
{
	struct flow_value *value = &tree->value[index];

	value->confirmed = value->led = value->visits = 0;
	if (value->was_sought)
		value->state = FLOW_VALUE_SOUGHT;
	for (uint32_t i = 0; i < tree->writers; i++)
		if (tree->writer[i].value == index)
			tree->writer[i].revoked = true;
}

void flow_tree_stray(struct flow_tree *tree, uint32_t value)
{
	if (++tree->value[value].strayed != FLOW_STRAYED)
		return;
	for (uint32_t i = 0; i < tree->values; i++)
		if (goes_through(tree, i, value))
			revoke(tree, i);
}

void flow_tree_stray_surely(struct flow_tree *tree, uint32_t value)
{
	if (tree->value[value].strayed < FLOW_STRAYED - 1)
		tree->value[value].strayed = FLOW_STRAYED - 1;
	flow_tree_stray(tree, value);
}

bool flow_tree_is_void(const struct flow_tree *tree, const struct flow_value *value)
{
	while (value->writer != FLOW_NONE) {
		const struct flow_writer *writer = &tree->writer[value->writer];

		if (writer->revoked)
			return true;
		value = &tree->value[writer->value];
	}
	return false;
}
