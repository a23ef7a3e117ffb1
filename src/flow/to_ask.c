/* SPDX-License-Identifier: Apache-2.0 */
/* What `trapline flow to` asks about next, and which watches that takes. */
#include "flow/to.h"

#include "base/clock.h"

#define CALLS_ENOUGH 16 /* of one call by a pointer, after which new targets are rare */
#define VISITS_UNLED 4	/* in which no value arrived at an address: it was not the right one */

static bool is_apart(const struct flow_spot_of_value *a, const struct flow_spot_of_value *b)
{
	return a->pid == b->pid && a->address - b->address >= b->length &&
	       b->address - a->address >= a->length;
}

static const struct flow_spot_of_value *above_of(const struct flow_to *to,
						 const struct flow_spot_of_value *spot)
{
	return &to->goals->spot[to->goals->reader[spot->reader].spot];
}

/* The expression itself; or where it stands for all blocks of a function, of which but one is
 * watched: their values need not come from that one. */
static bool is_alone(const struct flow_to *to, const struct flow_spot_of_value *spot)
{
	return spot->reader == FLOW_NONE || (to->asking.expression.meaning.block_size &&
					     above_of(to, spot)->reader == FLOW_NONE);
}

static enum flow_to_third third_of(const struct flow_spot_of_value *spot, bool through)
{
	if (through)
		return FLOW_TO_ORIGIN;
	if (spot->state == FLOW_VALUE_SOUGHT || (spot->copies && !spot->common))
		return FLOW_TO_NOTHING;
	if (spot->bypassed)
		return FLOW_TO_LOAD;
	return spot->fixed ? FLOW_TO_NOTHING : FLOW_TO_STORE;
}

/* Does the value go unchanged from the origin to the spot above? */
static bool is_copied(const struct flow_to *to, uint32_t index, uint32_t origin)
{
	const struct flow_goals *goals = to->goals;
	uint32_t at = goals->reader[goals->spot[index].reader].spot;

	for (; at != origin; at = goals->reader[goals->spot[at].reader].spot)
		if (!goals->spot[at].copies)
			return false;
	return true;
}

static struct flow_told_onward plan(const struct flow_to *to, uint32_t index)
{
	const struct flow_spot_of_value *spot = &to->goals->spot[index];
	struct flow_told_onward told = {.origin = FLOW_NONE, .alone = is_alone(to, spot)};

	told.any = told.alone && (spot->state == FLOW_VALUE_SOUGHT || !spot->filler);
	if (spot->reader == FLOW_NONE)
		return told;
	told.origin = flow_goals_origin(to->goals, index, &told.below);
	told.through = told.below != index;
	told.any |= !told.alone && !to->goals->spot[told.origin].filler;
	told.copies = is_copied(to, index, told.origin);
	told.together = !told.alone && spot->state == FLOW_VALUE_KNOWN &&
			!is_apart(spot, above_of(to, spot));
	told.third = told.alone ? FLOW_TO_NOTHING : third_of(spot, told.through);
	return told;
}

/*
 * Can it be told which values at the spot above came from the origin, and which of them arrive?
 * Where they are changed on the way only if each pass goes through the same memory.
 */
static bool can_be_told(const struct flow_to *to, uint32_t index,
			const struct flow_told_onward *told)
{
	const struct flow_spot_of_value *spot = &to->goals->spot[index];
	const struct flow_spot_of_value *above, *origin;

	if (told->alone || !told->through)
		return true;
	above = above_of(to, spot);
	origin = &to->goals->spot[told->origin];
	return (told->copies || above->fixed) && (spot->copies || !spot->bypassed) &&
	       is_apart(above, origin) &&
	       (spot->state == FLOW_VALUE_SOUGHT || is_apart(spot, origin));
}

/* Many visits, and no value arrived: it is to be found again where it is. */
static bool is_unled(const struct flow_to *to, const struct flow_spot_of_value *spot)
{
	return spot->state == FLOW_VALUE_KNOWN && spot->was_sought &&
	       spot->visits >= VISITS_UNLED && !spot->led && !is_alone(to, spot);
}

/* Of one that is sought: the hit of its load tells the registers of the store. */
static bool needs_no_code(const struct flow_spot_of_value *spot)
{
	return spot->at_once && !spot->bypassed && !spot->copy_call;
}

/* By ask_known() and ask_sought(), besides the third. */
static unsigned watches_of(const struct flow_to *to, const struct flow_spot_of_value *spot,
			   const struct flow_told_onward *told)
{
	if (spot->state == FLOW_VALUE_KNOWN && !is_unled(to, spot))
		return told->alone || told->together ? 1 : 2;
	return needs_no_code(spot) ? 1 : 2;
}

bool flow_to_item(void *state, uint32_t index, struct flow_item *item)
{
	const struct flow_to *to = state;
	const struct flow_spot_of_value *spot = &to->goals->spot[index];
	struct flow_told_onward told;

	if (index >= to->goals->spots)
		return false;
	*item = (struct flow_item){.visits = spot->visits + spot->refused,
				   .confirmed = spot->confirmed,
				   .ended = spot->state == FLOW_VALUE_ENDED ||
					    (spot->called && spot->confirmed > CALLS_ENOUGH) ||
					    flow_goals_is_void(to->goals, spot->reader)};
	if (item->ended)
		return true;
	told = plan(to, index);
	item->ended = !can_be_told(to, index, &told);
	item->watches = watches_of(to, spot, &told) + (told.third != FLOW_TO_NOTHING);
	return true;
}

void flow_to_forget(struct flow_told_onward *told)
{
	flow_onward_forget(&told->onward, told->any);
	told->onward.holds = told->alone && told->any;
	told->copier = 0;
	told->read.length = told->origin_read.length = told->held.length = 0;
}

static uint64_t arm_spot(struct flow_to *to, const struct flow_spot_of_value *spot)
{
	return flow_asking_arm(&to->asking, spot->pid, spot->address, spot->length,
			       TL_READ | TL_WRITE);
}

static uint64_t arm_code(struct flow_to *to, pid_t pid, uint64_t pc)
{
	return flow_asking_arm(&to->asking, pid, pc, 1, TL_EXEC);
}

static bool arm_third(struct flow_to *to, struct flow_question *question,
		      const struct flow_spot_of_value *spot, const struct flow_told_onward *told)
{
	if (told->third == FLOW_TO_NOTHING)
		return true;
	if (told->third == FLOW_TO_ORIGIN)
		question->goal_cookie = arm_spot(to, &to->goals->spot[told->origin]);
	else if (told->third == FLOW_TO_LOAD)
		question->goal_cookie = arm_code(to, spot->pid, to->goals->reader[spot->reader].pc);
	else
		question->goal_cookie =
			arm_code(to, spot->pid, spot->copy_call ? spot->copy_call : spot->filler);
	return question->goal_cookie;
}

static bool ask_known(struct flow_to *to, struct flow_question *question,
		      const struct flow_spot_of_value *spot, const struct flow_told_onward *told)
{
	question->cookie = arm_spot(to, spot);
	if (!question->cookie || told->alone)
		return question->cookie;
	if (!told->together)
		question->code_cookie = arm_spot(to, above_of(to, spot));
	return (told->together || question->code_cookie) && arm_third(to, question, spot, told);
}

static bool ask_sought(struct flow_to *to, struct flow_question *question,
		       const struct flow_spot_of_value *spot, const struct flow_told_onward *told)
{
	question->cookie = spot->bypassed && !spot->copy_call
				   ? arm_code(to, spot->pid, to->goals->reader[spot->reader].pc)
				   : arm_spot(to, above_of(to, spot));
	if (question->cookie && !needs_no_code(spot))
		question->code_cookie =
			arm_code(to, spot->pid, spot->copy_call ? spot->copy_call : spot->filler);
	return question->cookie && (needs_no_code(spot) || question->code_cookie) &&
	       arm_third(to, question, spot, told);
}

bool flow_to_ask(void *state, unsigned number, uint32_t index)
{
	struct flow_to *to = state;
	struct flow_question *question = &to->asking.question[number];
	struct flow_told_onward *told = &to->told[number];
	struct flow_spot_of_value *spot = &to->goals->spot[index];

	if (is_unled(to, spot)) {
		spot->state = FLOW_VALUE_SOUGHT;
		spot->visits = 0;
	}
	*told = plan(to, index);
	flow_to_forget(told);
	spot->visits++;
	spot->framed |= flow_asking_is_framed(&to->asking, spot->address);
	if (spot->state == FLOW_VALUE_SOUGHT ? ask_sought(to, question, spot, told)
					     : ask_known(to, question, spot, told)) {
		told->since = clock_now();
		return true;
	}
	spot->visits--;
	spot->refused += !to->asking.put_off;
	flow_asking_stop(&to->asking, question);
	return false;
}
