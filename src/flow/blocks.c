/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of heap:SIZE@function that live for a short while: what is stored there is stored right
 * after they were made, so the watch has to be there before the thread that has made one goes on.
 */
#include "flow/asking.h"

#include "base/clock.h"

/* Was no other item asked about less often? */
static bool is_its_turn(const struct flow_asking *asking, uint32_t item)
{
	struct flow_item own = {0}, other = {0};

	if (!asking->asker->item(asking->state, item, &own) || own.ended)
		return false;
	for (uint32_t i = 0; asking->asker->item(asking->state, i, &other); i++)
		if (!other.ended && other.visits < own.visits)
			return false;
	return true;
}

bool flow_asking_now(struct flow_asking *asking, uint32_t item)
{
	struct flow_question *question = &asking->question[0];

	if (!is_its_turn(asking, item))
		return false;
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		if (asking->question[i].item != FLOW_NO_ITEM)
			flow_asking_stop(asking, &asking->question[i]);
	asking->longer = false;
	if (!asking->asker->ask(asking->state, 0, item))
		return false;
	question->item = item;
	question->deadline = clock_now() + 2 * FLOW_WINDOW;
	return true;
}
