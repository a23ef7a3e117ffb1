/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/hoist.h"

#include "insn/effect.h"
#include "insn/forward.h"

#include <string.h>

#define OWN_STEPS 256  /* of the thread's own way */
#define ASIDE 8	       /* branches of it whose other side is looked at … */
#define ASIDE_STEPS 48 /* … so far, … */
#define FORKS 4	       /* … on both sides of so many branches there */

enum use {
	UNUSED,
	USED,
	GONE, /* another value takes its place */
};

struct search {
	const struct insn_hoist *hoist;
	int number; /* the register that the value is in */
	uint64_t aside[ASIDE];
	unsigned asides;
	uint64_t own[OWN_STEPS];
	unsigned steps;
	bool left_out; /* by a conditional move on its own way */
};

static void tell_nobody(void *context, const struct insn_forward_access *access)
{
	(void)context;
	(void)access;
}

static bool is_in(const struct insn_place *place, int number)
{
	return place->kind == INSN_PLACE_GENERAL && place->number == number;
}

static bool is_source(const struct insn_effect *effect, int number)
{
	if (is_in(&effect->decides, number))
		return true;
	for (unsigned i = 0; i < effect->insn.operand_count; i++) {
		const struct insn_operand *operand = &effect->insn.operand[i];

		/* Those of a nop that is made long are none. */
		if (operand->access && (operand->base == number || operand->index == number ||
					operand->bit_index == number))
			return true;
	}
	for (unsigned i = 0; i < effect->count; i++)
		for (unsigned j = 0; j < effect->result[i].source_count; j++)
			if (effect->result[i].operation != INSN_CONSTANT &&
			    is_in(&effect->result[i].source[j], number))
				return true;
	return false;
}

/* What a function is handed, keeps or returns may be used by somebody else. */
static enum use use_by_leaving(const struct insn_effect *effect, int number)
{
	const bool returns = effect->insn.flow == INSN_FLOW_RETURN;

	if (INSN_KEPT_BY_CALLS >> number & 1)
		return returns ? GONE : USED;
	if (returns)
		return number == insn_arch.function_result ? USED : GONE;
	for (unsigned i = 0; i < INSN_FUNCTION_ARGUMENTS; i++)
		if (insn_arch.function_argument[i] == number)
			return USED;
	return GONE;
}

static enum use use_of(const struct insn_effect *effect, int number)
{
	if (is_source(effect, number))
		return USED;
	if (effect->insn.flow != INSN_FLOW_NEXT && effect->insn.flow != INSN_FLOW_BRANCH)
		return effect->insn.flow == INSN_FLOW_CALL || effect->insn.flow == INSN_FLOW_RETURN
			       ? use_by_leaving(effect, number)
			       : USED;
	if (!(effect->insn.written_registers >> number & 1))
		return UNUSED;
	for (unsigned i = 0; i < effect->count; i++)
		if (is_in(&effect->result[i].to, number) && effect->result[i].to.length >= 4 &&
		    !effect->result[i].conditional)
			return GONE;
	return USED;
}

static bool decode(const struct search *search, uint64_t pc, uint8_t bytes[INSN_MAX_LENGTH],
		   size_t *available, struct insn_effect *effect)
{
	*available = search->hoist->code(search->hoist->context, pc, bytes, INSN_MAX_LENGTH);
	return *available && insn_effect_decode(bytes, *available, pc, effect) == 0;
}

/* `cmove %rcx,%rdx` of a value in %rcx, where the condition does not hold. */
static bool leaves_out(const struct insn_effect *effect, const struct insn_forward *forward,
		       int number)
{
	const struct insn_result *result = &effect->result[0];

	return effect->insn.move_condition >= 0 && !effect->insn.operand_count &&
	       insn_forward_holds(forward, (unsigned)effect->insn.move_condition) == 0 &&
	       effect->count == 1 && result->operation == INSN_SELECT &&
	       is_in(&result->source[1], number) && !is_in(&result->to, number);
}

/* The thread's own way. False: it uses the value, or where it leads is not known. */
static bool goes_without(struct search *search, struct insn_forward *forward)
{
	static struct insn_effect effect; /* large; one thread */
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available;
	bool leaves;

	for (; search->steps < OWN_STEPS; search->steps++) {
		enum use use;

		search->own[search->steps] = forward->pc;
		if (!decode(search, forward->pc, bytes, &available, &effect))
			return false;
		if (leaves_out(&effect, forward, search->number)) {
			search->left_out = true;
		} else {
			use = use_of(&effect, search->number);
			if (use != UNUSED)
				return use == GONE;
		}
		if (insn_forward_step(forward, bytes, available, &leaves) || leaves ||
		    forward->other)
			return false;
		if (effect.insn.conditional && forward->beside && search->asides < ASIDE)
			search->aside[search->asides++] = forward->beside;
	}
	return true;
}

static bool is_own(const struct search *search, uint64_t pc)
{
	for (unsigned i = 0; i < search->steps; i++)
		if (search->own[i] == pc)
			return true;
	return false;
}

struct aside {
	const struct search *search;
	uint64_t fork[FORKS];
	unsigned forks;
};

/* The next instruction of it. False: it ends there, as far as can be told. */
static bool pass(struct aside *aside, uint64_t *pc, bool *used)
{
	static struct insn_effect effect; /* large; one thread */
	const struct insn *insn = &effect.insn;
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available;
	enum use use;

	if (!decode(aside->search, *pc, bytes, &available, &effect))
		return false;
	use = *used ? UNUSED : use_of(&effect, aside->search->number);
	*used |= use == USED;
	if (use == GONE || (insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_BRANCH))
		return false;
	if (insn->conditional && !*used && aside->forks < FORKS)
		aside->fork[aside->forks++] = (uint64_t)insn->target;
	*pc = insn->flow == INSN_FLOW_BRANCH && !insn->conditional ? (uint64_t)insn->target
								   : *pc + insn->length;
	return true;
}

/*
 * Does a way that the thread leaves aside use the value? Where its own did not come to an end it is
 * in a loop, and what uses the value behind that does so in any case: so the way must come back.
 */
static bool uses_it(struct aside *aside, uint64_t pc)
{
	const bool ends = aside->search->steps < OWN_STEPS;
	bool used = false, goes_on = true;

	for (unsigned i = 0; i < ASIDE_STEPS && goes_on && !is_own(aside->search, pc); i++) {
		goes_on = pass(aside, &pc, &used);
		if (used && ends)
			return true;
	}
	return used && is_own(aside->search, pc);
}

static bool is_used_aside(const struct search *search, uint64_t from)
{
	struct aside aside = {.search = search, .fork = {from}, .forks = 1};

	for (unsigned i = 0; i < aside.forks; i++)
		if (uses_it(&aside, aside.fork[i]))
			return true;
	return false;
}

bool insn_is_hoisted(const struct insn_hoist *hoist, uint64_t pc,
		     const struct insn_registers *registers, bool before)
{
	static struct insn_forward forward; /* large; one thread */
	static struct search search;
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = hoist->code(hoist->context, pc, bytes, sizeof(bytes));
	struct insn insn;

	if (!available || insn_decode(bytes, available, pc, &insn) || !insn.plain_move ||
	    insn.loaded < 0)
		return false;
	search = (struct search){.hoist = hoist, .number = insn.loaded};
	memset(&forward, 0, sizeof(forward));
	memcpy(forward.general, registers->general, sizeof(forward.general));
	/* The value itself is of no use to the way on which nothing is made of it. */
	forward.pc = before ? pc + insn.length : registers->pc;
	forward.known = (uint16_t) ~(1u << insn.loaded);
	forward.fs_base = registers->fs_base;
	forward.read = hoist->read;
	forward.tell = tell_nobody;
	forward.context = hoist->context;
	insn_forward_set_flags(&forward, registers->flags);
	if (!goes_without(&search, &forward))
		return false;
	if (search.left_out)
		return true;
	for (unsigned i = 0; i < search.asides; i++)
		if (is_used_aside(&search, search.aside[i]))
			return true;
	return false;
}
