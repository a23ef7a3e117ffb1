/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread's own way is carried out with a shadow of the value (insn/shadow.h), so that what is
 * merely made of it in registers, such as a loop's induction variable, counts as the value and not
 * as its use. A branch that registers and memory do not foretell (memory of a process that has
 * ended, say) is followed both ways: the load may be for the one of them alone.
 */
#include "insn/hoist.h"

#include "insn/hoist_aside.h"
#include "insn/shadow_step.h"

#include <string.h>
#include <trapline/event.h>

#define OWN_STEPS 256		  /* of one way of the thread's own … */
#define ALL_STEPS (6 * OWN_STEPS) /* … and of all of them */
#define ASIDE 8			  /* branches whose other side is looked at */
#define VISITED 32
#define DECIDED 8      /* branches that are not foretold, of a way */
#define OWN_STACK 4096 /* bytes above the stack pointer: values that found no register */

enum end {
	GOES_ON,
	UNUSED,	 /* nothing of the value is left */
	USED,	 /* or where the way leads is not known */
	LEFT_OUT /* by a mask that is not known */
};

/* Which side a way goes on with each time that it comes to a branch that is not foretold, so that
 * what it goes through in a loop it goes through again. */
struct decisions {
	struct {
		uint64_t pc;
		bool taken;
	} branch[DECIDED];
	unsigned count;
};

struct search {
	const struct insn_hoist *hoist;
	struct shadow_walk walk;
	unsigned forks;	 /* ways in `walk`.fork that are yet to be followed */
	unsigned loaded; /* bytes */
	struct hoist_aside aside[ASIDE];
	unsigned asides;
	struct hoist_holders own[ALL_STEPS];
	unsigned steps, way; /* in `own`: of all ways, and where this one begins */
	struct hoist_holders visited[VISITED];
	unsigned visits;
	/* Of a branch that only another way has come to: which side is gone on with. */
	bool takes, fork_takes[SHADOW_FORKS];
	struct decisions decided, fork_decided[SHADOW_FORKS];
	/* Behind the function of the load nothing was left aside for it. */
	bool returned, fork_returned[SHADOW_FORKS];
	bool chosen; /* a conditional move has left it out */
};

static void tell_nobody(void *context, const struct insn_forward_access *access)
{
	(void)context;
	(void)access;
}

static struct hoist_holders holders(const struct shadow_state *state)
{
	struct hoist_holders holders = {.pc = state->forward.pc, .vectors = state->shadow.vectors};

	for (unsigned i = 0; i < INSN_GENERAL; i++)
		holders.general |= (uint16_t)((state->shadow.general[i] != 0) << i);
	for (unsigned i = 0; i < SHADOW_LINES; i++)
		holders.stack |= state->shadow.line[i].address != 0;
	return holders;
}

static bool nothing_is_left(const struct shadow *shadow)
{
	if (shadow->lost || shadow_in_registers(shadow))
		return false;
	for (unsigned i = 0; i < SHADOW_LINES; i++)
		if (shadow->line[i].address)
			return false;
	return true;
}

static bool has_shadow(const struct search *search, const struct shadow_step *step,
		       const struct insn_place *place)
{
	bool vague;

	return shadow_of_place(&search->walk.state.shadow, place, &step->operands, &vague);
}

static bool is_made_of_it(const struct search *search, const struct shadow_step *step,
			  const struct insn_result *result)
{
	for (unsigned i = 0; i < result->source_count; i++)
		if (result->operation != INSN_CONSTANT &&
		    has_shadow(search, step, &result->source[i]))
			return true;
	return false;
}

/* ------------------------------------------------------------------------------------------- */
/* Left out */

/* In more of the register than was loaded, as loops of vectors have what they need in each pass. */
static bool is_spread(const struct search *search, const struct insn_place *place)
{
	const uint8_t *byte = search->walk.state.shadow.vector[place->number % SHADOW_VECTORS];
	unsigned count = 0;

	for (unsigned i = 0; i < SHADOW_LINE && place->kind == INSN_PLACE_VECTOR; i++)
		count += byte[i] != 0;
	return count > search->loaded;
}

/* One of the two that an instruction chooses from holds the value, in each of its elements. */
static bool is_one_of_two(const struct search *search, const struct shadow_step *step,
			  const struct insn_result *result)
{
	const bool first = has_shadow(search, step, &result->source[0]);

	return first != has_shadow(search, step, &result->source[1]) &&
	       is_spread(search, &result->source[!first]);
}

/* `v & mask` is how `if (c) sum += v` becomes one of vectors; what the mask is was made of vector
 * registers that nobody noted. */
static bool is_masked(const struct search *search, const struct shadow_step *step,
		      const struct insn_result *result)
{
	if (result->to.kind == INSN_PLACE_MEMORY)
		return step->effect.insn.operand[result->to.number % INSN_MAX_OPERANDS].masked &&
		       is_made_of_it(search, step, result);
	if (result->to.kind != INSN_PLACE_VECTOR || result->source_count < 2)
		return false;
	switch (result->operation) {
	case INSN_AND:
	case INSN_AND_NOT:
		return result->source_count == 2 && is_one_of_two(search, step, result);
	case INSN_BLEND:
		return is_one_of_two(search, step, result) &&
		       !has_shadow(search, step, &result->source[2]);
	default:
		return false;
	}
}

/* `cmove %rcx,%rdx` with one of the two in it, where the other is taken or may be. */
static bool is_not_chosen(const struct search *search, const struct shadow_step *step,
			  const struct insn_result *result)
{
	int holds = insn_forward_holds(&search->walk.state.forward, result->condition);

	if (result->operation != INSN_SELECT || has_shadow(search, step, &result->source[2]) ||
	    has_shadow(search, step, &result->source[0]) ==
		    has_shadow(search, step, &result->source[1]))
		return false;
	return holds < 0 || !has_shadow(search, step, &result->source[holds]);
}

static bool is_left_out(struct search *search, const struct shadow_step *step)
{
	for (unsigned i = 0; i < step->effect.count; i++) {
		if (is_masked(search, step, &step->effect.result[i]))
			return true;
		search->chosen |= is_not_chosen(search, step, &step->effect.result[i]);
	}
	return false;
}

/* ------------------------------------------------------------------------------------------- */
/* The thread's own ways */

/* A value for which there was no register lies on the stack. With a frame's base register, too, but
 * so does each variable of code that nobody optimised, where nothing is loaded early. */
static bool is_kept_on_stack(const struct search *search, const struct shadow_step *step,
			     unsigned operand)
{
	const struct insn_operand *to = &step->effect.insn.operand[operand % INSN_MAX_OPERANDS];
	const int stack_pointer = insn_arch.stack_pointer;

	return step->operands.known[operand % INSN_MAX_OPERANDS] &&
	       (to->stack_push || to->base == stack_pointer) &&
	       step->operands.address[operand % INSN_MAX_OPERANDS] + insn_arch.red_zone -
			       search->walk.state.forward.general[stack_pointer] <
		       OWN_STACK;
}

static bool is_stored(const struct search *search, const struct shadow_step *step)
{
	for (unsigned i = 0; i < step->effect.count; i++) {
		const struct insn_result *result = &step->effect.result[i];

		if ((result->to.kind == INSN_PLACE_OTHER ||
		     (result->to.kind == INSN_PLACE_MEMORY &&
		      !is_kept_on_stack(search, step, result->to.number))) &&
		    is_made_of_it(search, step, result))
			return true;
	}
	return false;
}

/* Arguments. What a function has left in the first register of vectors is its result, or nobody's:
 * most return none there. */
static bool is_handed_on(const struct search *search, const struct shadow *shadow)
{
	const uint32_t vectors = search->returned ? 0xfe : 0xff;

	for (unsigned i = 0; i < INSN_FUNCTION_ARGUMENTS; i++)
		if (shadow->general[insn_arch.function_argument[i]])
			return true;
	return shadow->vectors & vectors;
}

/* Compilers load nothing early across a call of whose function they know nothing: behind one with
 * the value in a register that it keeps, that is where the program loads it. */
static enum end end_by_call(const struct search *search, struct shadow *shadow)
{
	if (is_handed_on(search, shadow))
		return USED;
	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (!(INSN_KEPT_BY_CALLS >> i & 1))
			shadow->general[i] = 0;
	shadow->vectors = shadow->flags = 0;
	memset(shadow->mask, 0, sizeof(shadow->mask));
	return nothing_is_left(shadow) ? UNUSED : USED;
}

/* What is left of it in registers that return nothing is of no use to the caller, whose own the
 * others are again. Whether the function returns anything, the caller shows. */
static void forget_at_return(struct shadow_state *state)
{
	struct shadow *shadow = &state->shadow;

	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if ((int)i != insn_arch.function_result)
			shadow->general[i] = 0;
	for (unsigned i = 1; i < SHADOW_VECTORS; i++)
		memset(shadow->vector[i], 0, SHADOW_LINE);
	shadow->vectors &= 1;
	shadow->flags = 0;
	memset(shadow->mask, 0, sizeof(shadow->mask));
	shadow_fill(shadow, state->forward.general[insn_arch.stack_pointer] - OWN_STACK, 0,
		    OWN_STACK);
}

/* Was the thread there with the value in the same registers? */
static bool was_visited(struct search *search, const struct hoist_holders *now)
{
	for (unsigned i = 0; i < search->visits; i++)
		if (search->visited[i].pc == now->pc &&
		    search->visited[i].general == now->general &&
		    search->visited[i].vectors == now->vectors &&
		    search->visited[i].stack == now->stack)
			return true;
	if (search->visits == VISITED)
		return true;
	search->visited[search->visits++] = *now;
	return false;
}

static void note_aside(struct search *search, uint64_t pc)
{
	struct hoist_aside *aside = &search->aside[search->asides];

	if (search->asides == ASIDE || search->returned)
		return;
	aside->holders = holders(&search->walk.state);
	aside->holders.pc = pc;
	search->asides++;
}

static void decide(struct decisions *decisions, uint64_t pc, bool taken)
{
	if (decisions->count == DECIDED)
		return;
	decisions->branch[decisions->count].pc = pc;
	decisions->branch[decisions->count++].taken = taken;
}

static bool was_decided(const struct decisions *decisions, uint64_t pc, bool *taken)
{
	for (unsigned i = 0; i < decisions->count; i++) {
		if (decisions->branch[i].pc != pc)
			continue;
		*taken = decisions->branch[i].taken;
		return true;
	}
	return false;
}

static void push_fork(struct search *search, uint64_t pc, uint64_t other)
{
	unsigned fork = search->forks++;

	search->walk.fork[fork] = search->walk.state;
	search->walk.fork[fork].forward.pc = other;
	search->fork_returned[fork] = search->returned;
	search->fork_takes[fork] = true;
	search->fork_decided[fork] = search->decided;
	decide(&search->fork_decided[fork], pc, true);
}

/* Both sides of a branch that is not foretold are the thread's. `pc`: the branch's. */
static void fork_way(struct search *search, uint64_t pc, uint64_t other)
{
	struct shadow_state *state = &search->walk.state;
	struct hoist_holders now = holders(state), there = now;
	bool taken;

	there.pc = other;
	if (!was_decided(&search->decided, pc, &taken)) {
		if (search->forks < SHADOW_FORKS && !was_visited(search, &there))
			push_fork(search, pc, other);
		taken = search->takes;
		if (!was_visited(search, &now)) {
			decide(&search->decided, pc, false);
			return;
		}
		decide(&search->decided, pc, taken);
	}
	note_aside(search, taken ? now.pc : other);
	if (taken)
		state->forward.pc = other;
}

static enum end go_on(struct search *search)
{
	static struct shadow_step step; /* large; one thread */
	struct shadow_state *state = &search->walk.state;
	const struct insn *insn = &step.effect.insn;
	bool vague, leaves;

	search->own[search->steps++] = holders(state);
	if (!shadow_step_decode(&search->walk, state, &step) || step.effect.more ||
	    insn->flow == INSN_FLOW_SYSCALL || shadow_step_sink(state, &step, &vague))
		return USED;
	if (is_left_out(search, &step))
		return LEFT_OUT;
	if (is_stored(search, &step))
		return USED;
	if (insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT)
		return end_by_call(search, &state->shadow);
	if (!shadow_step_carry_out(state, &step, &leaves) ||
	    (leaves && insn->flow != INSN_FLOW_RETURN))
		return nothing_is_left(&state->shadow) ? UNUSED : USED;
	if (insn->flow == INSN_FLOW_RETURN) {
		forget_at_return(state);
		search->returned = true;
	}
	if (nothing_is_left(&state->shadow))
		return UNUSED;
	if (state->forward.other)
		fork_way(search, search->own[search->steps - 1].pc, state->forward.other);
	else if (insn->conditional && state->forward.beside)
		note_aside(search, state->forward.beside);
	return GOES_ON;
}

/* To its end, or (GOES_ON) as far as is looked: in a loop, of which the rest is more of the same.
 */
static enum end follow(struct search *search)
{
	enum end end = GOES_ON;

	search->way = search->steps;
	search->asides = 0;
	while (end == GOES_ON && search->steps - search->way < OWN_STEPS &&
	       search->steps < ALL_STEPS)
		end = go_on(search);
	return end;
}

static bool is_used_aside(const struct search *search, bool ended)
{
	const struct hoist_own own = {search->own + search->way, search->steps - search->way,
				      ended};

	for (unsigned i = 0; i < search->asides; i++)
		if (hoist_is_used_aside(&search->aside[i], search->hoist, &own))
			return true;
	return false;
}

static bool take_fork(struct search *search)
{
	if (!search->forks || search->steps == ALL_STEPS)
		return false;
	search->forks--;
	search->walk.state = search->walk.fork[search->forks];
	search->takes = search->fork_takes[search->forks];
	search->decided = search->fork_decided[search->forks];
	search->returned = search->fork_returned[search->forks];
	return true;
}

/* Of the ways that the thread may take, is there one without a use, and one that it is for? */
static bool goes_without(struct search *search)
{
	bool without = false, used = false;

	do {
		enum end end = follow(search);

		if (end == LEFT_OUT ||
		    (end != USED && (search->chosen || is_used_aside(search, end == UNUSED))))
			return true;
		without |= end == UNUSED;
		used |= end == USED;
	} while (take_fork(search));
	return without && used;
}

/* ------------------------------------------------------------------------------------------- */

static bool fill(struct shadow *shadow, const struct insn_result *result)
{
	unsigned length = result->to.length;

	if (result->operation == INSN_COPY && result->source[0].length < length)
		length = result->source[0].length; /* above are zeroes */
	if (result->to.kind == INSN_PLACE_GENERAL) {
		shadow->general[result->to.number & 15] = ~0ull;
	} else if (result->to.kind == INSN_PLACE_VECTOR &&
		   result->to.first + length <= SHADOW_LINE) {
		memset(shadow->vector[result->to.number % SHADOW_VECTORS] + result->to.first, 0xff,
		       length);
		shadow->vectors |= 1u << result->to.number % SHADOW_VECTORS;
	} else {
		return result->to.kind == INSN_PLACE_FLAGS;
	}
	return true;
}

/* All that the instruction has made of what it loaded. False: no load into registers. */
static bool begin(struct search *search, const struct insn_effect *effect)
{
	const struct insn *insn = &effect->insn;
	struct shadow *shadow = &search->walk.state.shadow;

	if (insn->flow != INSN_FLOW_NEXT || insn->operand_count != 1 || insn->atomic ||
	    insn->string || insn->operand[0].access != TL_READ || insn->operand[0].masked ||
	    insn->move_condition >= 0 || insn->operand[0].stack_pop || effect->more)
		return false;
	for (unsigned i = 0; i < effect->count; i++)
		if (effect->result[i].operation != INSN_CONSTANT &&
		    !fill(shadow, &effect->result[i]))
			return false;
	if (!holders(&search->walk.state).general && !shadow->vectors)
		return false;
	search->loaded = insn->operand[0].size;
	return true;
}

static void set_registers(struct search *search, const struct insn *insn, uint64_t next,
			  const struct insn_registers *registers)
{
	struct insn_forward *forward = &search->walk.state.forward;

	memcpy(forward->general, registers->general, sizeof(forward->general));
	forward->pc = next;
	/* The value itself is of no use to the way on which nothing is made of it. */
	forward->known = (uint16_t)~insn->written_registers;
	forward->fs_base = registers->fs_base;
	forward->read = search->hoist->read;
	forward->tell = tell_nobody;
	forward->context = search->hoist->context;
	insn_forward_set_flags(forward, registers->flags);
	forward->flags_known = insn->plain_move || insn->vector;
}

bool insn_is_hoisted(const struct insn_hoist *hoist, uint64_t pc,
		     const struct insn_registers *registers, bool before)
{
	static struct search search; /* large; one thread */
	static struct insn_effect effect;
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = hoist->code(hoist->context, pc, bytes, sizeof(bytes));

	if (!available || insn_effect_decode(bytes, available, pc, &effect))
		return false;
	search.hoist = hoist;
	memset(&search.walk.state, 0, sizeof(search.walk.state));
	search.walk.code = hoist->code;
	search.walk.context = hoist->context;
	search.forks = search.asides = search.steps = search.visits = 0;
	search.decided.count = 0;
	search.returned = search.chosen = search.takes = false;
	if (!begin(&search, &effect))
		return false;
	set_registers(&search, &effect.insn, before ? pc + effect.insn.length : registers->pc,
		      registers);
	return goes_without(&search);
}
