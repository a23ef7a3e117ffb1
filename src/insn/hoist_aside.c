/* SPDX-License-Identifier: Apache-2.0 */
/* By the code alone: registers and memory are those of another way. */
#include "insn/hoist_aside.h"

#include "insn/effect.h"

#include <trapline/event.h>

#define STEPS 48 /* so far … */
#define FORKS 4	 /* … on both sides of so many branches */
#define DROP_STEPS 128
#define DROP_FORKS 8

struct looking {
	const struct insn_hoist *hoist;
	const struct hoist_own *own;
	struct hoist_holders fork[DROP_FORKS];
	bool fork_used[DROP_FORKS];
	unsigned forks, most;
	bool narrow;  /* the upper parts of vectors do not count */
	bool drops;   /* hoist_is_dropped() */
	bool idle;    /* what a vector holds at a return is nobody's, but for `returned` */
	bool unknown; /* a way was left that is not known to end */
};

static bool is_in(const struct insn_place *place, const struct hoist_holders *holders)
{
	return (place->kind == INSN_PLACE_GENERAL &&
		holders->general >> (place->number & 15) & 1) ||
	       (place->kind == INSN_PLACE_VECTOR && holders->vectors >> (place->number & 31) & 1);
}

static bool is_number(int number, const struct hoist_holders *holders)
{
	return number >= 0 && number < INSN_GENERAL && holders->general >> number & 1;
}

static bool is_made_of(const struct insn_result *result, const struct hoist_holders *holders)
{
	for (unsigned i = 0; i < result->source_count; i++)
		if (result->operation != INSN_CONSTANT && is_in(&result->source[i], holders))
			return true;
	return false;
}

static bool is_source(const struct insn_effect *effect, const struct hoist_holders *holders)
{
	const int stack_pointer = insn_arch.stack_pointer;

	if (is_in(&effect->decides, holders))
		return true;
	for (unsigned i = 0; i < effect->insn.operand_count; i++) {
		const struct insn_operand *operand = &effect->insn.operand[i];

		/* Those of a nop that is made long are none. */
		if (operand->access &&
		    (is_number(operand->base, holders) || is_number(operand->index, holders) ||
		     is_number(operand->bit_index, holders)))
			return true;
		if (holders->stack && (operand->access & TL_READ) && operand->base == stack_pointer)
			return true;
	}
	for (unsigned i = 0; i < effect->count; i++)
		if (is_made_of(&effect->result[i], holders))
			return true;
	return false;
}

/* What is left in vectors at a return. Behind a branch few functions return one, and loops leave
 * some. */
static bool is_returned(const struct looking *looking, const struct hoist_holders *holders)
{
	if (!looking->idle)
		return holders->vectors & 1;
	return holders->returned && !holders->looped && (holders->vectors & 1);
}

/* What a function is handed, keeps or returns may be used by somebody else. */
static bool is_used_by_leaving(const struct looking *looking, const struct insn_effect *effect,
			       const struct hoist_holders *holders)
{
	switch (effect->insn.flow) {
	case INSN_FLOW_RETURN:
		return is_number(insn_arch.function_result, holders) ||
		       is_number(insn_arch.function_second_result, holders) ||
		       is_returned(looking, holders);
	case INSN_FLOW_CALL:
	case INSN_FLOW_CALL_INDIRECT:
		if ((holders->general & INSN_KEPT_BY_CALLS) || (holders->vectors & 0xff))
			return true;
		for (unsigned i = 0; i < INSN_FUNCTION_ARGUMENTS; i++)
			if (is_number(insn_arch.function_argument[i], holders))
				return true;
		return false;
	default:
		return true;
	}
}

#define NARROW 16

/* Registers that get another value. Those changed in a way that is not told hold it still. */
static void drop_overwritten(const struct looking *looking, const struct insn_effect *effect,
			     struct hoist_holders *holders)
{
	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];

		if (result->conditional || is_made_of(result, holders))
			continue;
		if (result->to.kind == INSN_PLACE_GENERAL && result->to.length >= 4)
			holders->general &= (uint16_t) ~(1u << (result->to.number & 15));
		if (result->to.kind == INSN_PLACE_VECTOR &&
		    (result->clears || (looking->narrow && result->to.length >= NARROW)) &&
		    result->to.first == 0)
			holders->vectors &= ~(1u << (result->to.number & 31));
	}
}

/* What is of no use on a way that did not come from a loop is of none on one that did. */
static bool is_fork(const struct looking *looking, const struct hoist_holders *way)
{
	for (unsigned i = 0; i < looking->forks; i++)
		if (looking->fork[i].pc == way->pc && looking->fork[i].general == way->general &&
		    looking->fork[i].vectors == way->vectors &&
		    looking->fork[i].stack == way->stack && looking->fork[i].looped <= way->looped)
			return true;
	return false;
}

/* The other side of a branch is yet to be looked at. */
static void fork_way(struct looking *looking, const struct hoist_holders *now, uint64_t target,
		     bool used)
{
	struct hoist_holders way = *now;

	way.pc = target;
	if (is_fork(looking, &way))
		return;
	if (looking->forks == looking->most) {
		looking->unknown = true;
		return;
	}
	looking->fork[looking->forks] = way;
	looking->fork_used[looking->forks++] = used;
}

/* The next instruction of it. False: it ends there, as far as can be told. */
static bool pass(struct looking *looking, struct hoist_holders *now, bool *used)
{
	static struct insn_effect effect; /* large; one thread */
	const struct insn *insn = &effect.insn;
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available =
		looking->hoist->code(looking->hoist->context, now->pc, bytes, sizeof(bytes));

	if (!available || insn_effect_decode(bytes, available, now->pc, &effect)) {
		looking->unknown = true;
		return false;
	}
	*used |= is_source(&effect, now);
	if (insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_BRANCH) {
		*used |= is_used_by_leaving(looking, &effect, now);
		return false;
	}
	drop_overwritten(looking, &effect, now);
	if (!*used && !now->general && !now->vectors && !now->stack)
		return false;
	if (looking->drops && insn->flow == INSN_FLOW_BRANCH && (uint64_t)insn->target <= now->pc)
		now->looped = true;
	if (insn->conditional)
		fork_way(looking, now, (uint64_t)insn->target, *used);
	now->pc = insn->flow == INSN_FLOW_BRANCH && !insn->conditional ? (uint64_t)insn->target
								       : now->pc + insn->length;
	return true;
}

/* `*more`: the thread itself never has the value there where it has it now. */
static bool is_own(const struct looking *looking, const struct hoist_holders *now, bool *more)
{
	struct hoist_holders own = {0};
	bool found = false;

	for (unsigned i = 0; i < looking->own->count; i++) {
		const struct hoist_holders *at = &looking->own->at[i];

		if (at->pc != now->pc)
			continue;
		own.general |= at->general;
		own.vectors |= at->vectors;
		found = true;
	}
	*more = found && ((now->general & ~own.general) || (now->vectors & ~own.vectors));
	return found;
}

static bool uses_it(struct looking *looking, struct hoist_holders now, bool used)
{
	bool goes_on = true, more = false;

	for (unsigned i = 0; i < STEPS && goes_on && !is_own(looking, &now, &more); i++) {
		goes_on = pass(looking, &now, &used);
		if (used && looking->own->ended)
			return true;
	}
	return more || (used && is_own(looking, &now, &more));
}

bool hoist_is_used_aside(const struct hoist_aside *aside, const struct insn_hoist *hoist,
			 const struct hoist_own *own)
{
	struct looking looking = {
		.hoist = hoist, .own = own, .fork = {aside->holders}, .forks = 1, .most = FORKS};

	for (unsigned i = 0; i < looking.forks; i++)
		if (uses_it(&looking, looking.fork[i], looking.fork_used[i]))
			return true;
	return false;
}

bool hoist_is_dropped(const struct hoist_holders *holders, const struct insn_hoist *hoist,
		      bool narrow)
{
	struct looking looking = {.hoist = hoist,
				  .fork = {*holders},
				  .forks = 1,
				  .most = DROP_FORKS,
				  .drops = true,
				  .narrow = narrow};

	for (unsigned i = 0; i < looking.forks; i++) {
		struct hoist_holders now = looking.fork[i];
		bool used = false, goes_on = true;

		for (unsigned j = 0; j < DROP_STEPS && goes_on && !used; j++) {
			looking.idle = i > 0 || j > 0;
			goes_on = pass(&looking, &now, &used);
		}
		if (used || goes_on || looking.unknown)
			return false;
	}
	return true;
}
