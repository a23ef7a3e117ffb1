/* SPDX-License-Identifier: Apache-2.0 */
/* The places of the expression itself: of a variable they stay, of a thread's own copy they end
 * with it, of blocks of the heap they go from one to the next. */
#include "flow/from.h"

void flow_from_add_root(void *context, pid_t pid, uint64_t address, uint64_t length)
{
	struct flow_from *from = context;
	struct flow_tree *tree = from->tree;

	for (uint32_t i = 0; i < tree->values && !length; i++)
		if (tree->value[i].writer == FLOW_NONE &&
		    tree->value[i].address - address < 8 * FLOW_PIECES)
			tree->value[i].state = FLOW_VALUE_ENDED;
	if (length && tree->values < FLOW_VALUES)
		tree->value[tree->values++] = (struct flow_value){
			.writer = FLOW_NONE, .pid = pid, .address = address, .length = length};
}

/* Is it the expression's own? */
static bool is_root(const struct flow_from *from, uint32_t value)
{
	return from->tree->value[value].writer == FLOW_NONE;
}

/* Is the expression's place watched for that question? */
static bool is_about_root(const struct flow_from *from, unsigned number)
{
	const struct flow_tree *tree = from->tree;
	uint32_t item = from->asking.question[number].item, goal = from->told[number].goal;

	if (item == FLOW_NO_ITEM)
		return false;
	return is_root(from, item) || is_root(from, tree->writer[tree->value[item].writer].value) ||
	       (goal != FLOW_NONE && is_root(from, tree->writer[goal].value));
}

static void move_root(struct flow_from *from, uint32_t index, uint64_t distance)
{
	struct flow_tree *tree = from->tree;

	tree->value[index].address += distance;
	tree->value[index].state = FLOW_VALUE_KNOWN;
	tree->value[index].framed = false;
	for (uint32_t i = 0; i < tree->values; i++)
		if (!is_root(from, i) && tree->writer[tree->value[i].writer].value == index)
			tree->value[i].copy_offset += distance;
}

void flow_from_move_roots(void *context, uint64_t base, uint64_t to)
{
	struct flow_from *from = context;
	bool asked = !to;

	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		if (is_about_root(from, i))
			flow_asking_stop(&from->asking, &from->asking.question[i]);
	for (uint32_t i = 0; i < from->tree->values; i++) {
		if (!is_root(from, i))
			continue;
		if (to)
			move_root(from, i, to - base);
		else
			from->tree->value[i].state = FLOW_VALUE_ENDED;
	}
	for (uint32_t i = 0; i < from->tree->values && !asked; i++)
		asked = is_root(from, i) && flow_asking_now(&from->asking, i);
}
