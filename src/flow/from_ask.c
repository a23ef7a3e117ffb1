/* SPDX-License-Identifier: Apache-2.0 */
/* What `trapline flow from` asks about next, and which watches that takes. */
#include "flow/from.h"

#include "base/clock.h"

#define CALLS_ENOUGH 16 /* of one call by a pointer, after which new targets are rare */
#define LED_ENOUGH 16	/* values that went on, and none elsewhere: all do */
#define LED_SETTLED 4	/* values that went on, and none elsewhere: as far as can be told all do */
#define VISITS_UNLED 4	/* in which no value went on from an address: others come elsewhere */
#define SOLE_VISITS 3	/* in which nobody stored to the goal: the one writer is the answer */

/* Does the value's parent stand for all blocks of a function, of which but one is watched? */
static bool is_of_blocks(const struct flow_from *from, const struct flow_value *value)
{
	const struct flow_tree *tree = from->tree;

	return from->asking.expression.meaning.block_size &&
	       tree->value[tree->writer[value->writer].value].writer == FLOW_NONE;
}

/* Of memory that processes share the address is the same in both. */
static bool is_apart(const struct flow_value *a, const struct flow_value *b)
{
	return a->address - b->address >= b->length && b->address - a->address >= a->length;
}

uint32_t flow_from_goal(const struct flow_from *from, const struct flow_value *value)
{
	const struct flow_tree *tree = from->tree;
	const struct flow_value *next;
	uint32_t writer;

	if (value->writer == FLOW_NONE || !value->reader || (value->sole && !value->chosen))
		return FLOW_NONE;
	writer = flow_tree_goal(tree, value);
	next = &tree->value[tree->writer[value->writer].value];
	if (writer != value->writer || value->chosen)
		return writer;
	return is_of_blocks(from, value) || !is_apart(value, next) ||
			       (value->led >= LED_ENOUGH && value->strayed < FLOW_STRAYED)
		       ? FLOW_NONE
		       : writer;
}

/* Of a sought one: the goal of the place that it is stored to, where that is another. */
static uint32_t goal_of_sought(const struct flow_from *from, const struct flow_value *value)
{
	uint32_t goal = flow_tree_goal(from->tree, value);

	return goal == value->writer ? FLOW_NONE : goal;
}

/* A value that must pass by a place on its way to the goal: these are watched by one process's
 * events, and each by its own. */
static bool can_be_seen_on_its_way(const struct flow_from *from, const struct flow_value *value)
{
	const struct flow_tree *tree = from->tree;
	uint32_t writer = flow_tree_goal(tree, value);
	const struct flow_value *goal = &tree->value[tree->writer[writer].value];
	const struct flow_value *next = &tree->value[tree->writer[value->writer].value];

	if (writer == value->writer)
		return true;
	return value->pid == goal->pid && value->pid == next->pid && is_apart(next, goal) &&
	       (value->state == FLOW_VALUE_SOUGHT ||
		(is_apart(value, next) && is_apart(value, goal)));
}

/*
 * Is it to be seen, too, when the writer stores elsewhere? Then what it had read last was stored
 * there: what it stores to the place that is asked about next may be of another way of its code.
 * Where it stores what it has read, the value itself tells, unless many are the same. Of copying
 * its call is to be seen.
 */
static bool needs_code(const struct flow_from *from, const struct flow_value *value, uint32_t goal)
{
	const struct flow_writer *writer = &from->tree->writer[value->writer];

	if (goal != value->writer || writer->fixed)
		return false;
	return value->copied ? value->common : writer->made && (value->computed || value->common);
}

/* Many visits, and nothing that was read there went on: it is to be found again where it is. */
static bool is_unled(const struct flow_value *value)
{
	return value->state == FLOW_VALUE_KNOWN && value->was_sought &&
	       value->tries >= VISITS_UNLED && !value->led && !value->confirmed;
}

static unsigned watches_of(const struct flow_from *from, const struct flow_value *value)
{
	uint32_t goal;

	if (value->state == FLOW_VALUE_SOUGHT || is_unled(value))
		return goal_of_sought(from, value) == FLOW_NONE ? 2 : 3;
	goal = flow_from_goal(from, value);
	if (goal == FLOW_NONE)
		return 1;
	return goal != value->writer || needs_code(from, value, goal) ? 3 : 2;
}

/*
 * Is it known whether all values that are read there go on, or some do not? Before that, what is
 * asked about what made them takes the one that came first for that one which goes on: a slot of
 * the stack that much else is stored to shows one value in ten windows, and two of them are to be
 * seen in one for the other kind to be known.
 */
static bool is_settled(const struct flow_from *from, const struct flow_value *value)
{
	return flow_from_goal(from, value) == FLOW_NONE || value->led >= LED_SETTLED ||
	       value->strayed >= FLOW_STRAYED;
}

static bool is_held(const struct flow_from *from, const struct flow_value *value)
{
	const struct flow_tree *tree = from->tree;

	return value->writer != FLOW_NONE &&
	       !is_settled(from, &tree->value[tree->writer[value->writer].value]);
}

bool flow_from_item(void *state, uint32_t index, struct flow_item *item)
{
	const struct flow_from *from = state;
	struct flow_value *value = &from->tree->value[index];

	if (index >= from->tree->values)
		return false;
	value->held = is_held(from, value);
	*item = (struct flow_item){.visits = value->visits + value->refused,
				   .confirmed = value->confirmed,
				   .longer = value->state == FLOW_VALUE_KNOWN && value->led &&
					     !is_settled(from, value),
				   .ended = value->state == FLOW_VALUE_ENDED || value->held ||
					    (value->called && value->confirmed > CALLS_ENOUGH) ||
					    flow_tree_is_void(from->tree, value) ||
					    (value->writer != FLOW_NONE &&
					     !can_be_seen_on_its_way(from, value))};
	if (!item->ended)
		item->watches = watches_of(from, value);
	return true;
}

/* Who stores there, and whether it is then read by what was asked about. */
static uint64_t arm_stored(struct flow_from *from, const struct flow_value *value, pid_t pid)
{
	return flow_asking_arm(&from->asking, pid, value->address, value->length,
			       flow_from_reader(value, pid) ? TL_READ | TL_WRITE : TL_WRITE);
}

/* The place that the value goes to next, and the goal. */
static bool arm_goal(struct flow_from *from, unsigned index, const struct flow_value *value)
{
	struct flow_question *question = &from->asking.question[index];
	const struct flow_tree *tree = from->tree;
	uint32_t goal = from->told[index].goal;
	const struct flow_writer *writer = &tree->writer[value->writer];
	bool through = goal != value->writer, code = needs_code(from, value, goal);

	from->told[index].code = code;
	question->code_cookie =
		arm_stored(from, &tree->value[tree->writer[value->writer].value], value->pid);
	if (question->code_cookie && through)
		question->goal_cookie =
			arm_stored(from, &tree->value[tree->writer[goal].value], value->pid);
	else if (question->code_cookie && code)
		question->goal_cookie =
			flow_asking_arm(&from->asking, value->pid,
					value->copied ? value->copy_call : writer->pc, 1, TL_EXEC);
	return question->code_cookie && ((!through && !code) || question->goal_cookie);
}

static bool ask_known(struct flow_from *from, unsigned index, struct flow_value *value)
{
	struct flow_question *question = &from->asking.question[index];

	if (value->visits > SOLE_VISITS && !value->goal_stores && value->only_writer &&
	    !value->several)
		value->sole = true;
	value->framed |= flow_asking_is_framed(&from->asking, value->address);
	from->told[index].goal = flow_from_goal(from, value);
	question->far_cookie = flow_asking_arm_far(&from->asking, value->pid, value->address,
						   value->length, value->visits);
	question->cookie = arm_stored(from, value, value->pid);
	return question->cookie &&
	       (from->told[index].goal == FLOW_NONE || arm_goal(from, index, value));
}

static bool ask_sought(struct flow_from *from, unsigned index, const struct flow_value *value)
{
	struct flow_question *question = &from->asking.question[index];
	const struct flow_tree *tree = from->tree;
	const struct flow_value *parent = &tree->value[tree->writer[value->writer].value];
	uint32_t goal = goal_of_sought(from, value);

	from->told[index].goal = goal;
	question->cookie = arm_stored(from, parent, value->pid);
	if (question->cookie)
		question->code_cookie = flow_asking_arm(
			&from->asking, value->pid, value->copied ? value->copy_call : value->reader,
			1, TL_EXEC);
	if (question->code_cookie && goal != FLOW_NONE)
		question->goal_cookie =
			arm_stored(from, &tree->value[tree->writer[goal].value], value->pid);
	return question->code_cookie && (goal == FLOW_NONE || question->goal_cookie);
}

bool flow_from_ask(void *state, unsigned question, uint32_t index)
{
	struct flow_from *from = state;
	struct flow_value *value = &from->tree->value[index];

	if (is_unled(value))
		value->state = FLOW_VALUE_SOUGHT;
	from->told[question] = (struct flow_told){0};
	value->visits++;
	value->tries++;
	if (value->state == FLOW_VALUE_SOUGHT ? ask_sought(from, question, value)
					      : ask_known(from, question, value)) {
		from->told[question].since = clock_now();
		return true;
	}
	value->visits--;
	value->tries--;
	value->refused += !from->asking.put_off;
	flow_asking_stop(&from->asking, &from->asking.question[question]);
	return false;
}
