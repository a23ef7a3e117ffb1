/* SPDX-License-Identifier: Apache-2.0 */
/* The places of the expression itself, as in from_roots.c. */
#include "flow/to.h"

void flow_to_add_root(void *context, pid_t pid, uint64_t address, uint64_t length)
{
	struct flow_to *to = context;
	struct flow_goals *goals = to->goals;

	for (uint32_t i = 0; i < goals->spots && !length; i++)
		if (goals->spot[i].reader == FLOW_NONE &&
		    goals->spot[i].address - address < 8 * FLOW_PIECES)
			goals->spot[i].state = FLOW_VALUE_ENDED;
	if (length && goals->spots < FLOW_VALUES)
		goals->spot[goals->spots++] = (struct flow_spot_of_value){
			.reader = FLOW_NONE, .pid = pid, .address = address, .length = length};
}

/* Is it the expression's own? */
static bool is_root(const struct flow_goals *goals, uint32_t spot)
{
	return goals->spot[spot].reader == FLOW_NONE;
}

/* Is the expression's place watched for that question? */
static bool is_about_root(const struct flow_to *to, unsigned number)
{
	const struct flow_goals *goals = to->goals;
	uint32_t item = to->asking.question[number].item, origin = to->told[number].origin;

	if (item == FLOW_NO_ITEM)
		return false;
	return is_root(goals, item) ||
	       is_root(goals, goals->reader[goals->spot[item].reader].spot) ||
	       (origin != FLOW_NONE && is_root(goals, origin));
}

void flow_to_move_roots(void *context, uint64_t base, uint64_t to_address)
{
	struct flow_to *to = context;
	struct flow_goals *goals = to->goals;
	bool asked = !to_address;

	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		if (is_about_root(to, i))
			flow_asking_stop(&to->asking, &to->asking.question[i]);
	for (uint32_t i = 0; i < goals->spots; i++) {
		if (!is_root(goals, i))
			continue;
		goals->spot[i].state = to_address ? FLOW_VALUE_KNOWN : FLOW_VALUE_ENDED;
		if (!to_address)
			continue;
		goals->spot[i].address += to_address - base;
		goals->spot[i].framed = false;
	}
	for (uint32_t i = 0; i < goals->spots && !asked; i++)
		asked = is_root(goals, i) && flow_asking_now(&to->asking, i);
}
