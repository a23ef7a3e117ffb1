/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some branches depend on a value, and nothing comes of it: a comparison of strings by whole words
 * finds words different in bytes behind the strings' ends, and then finds by the lengths that these
 * do not count. Here both directions are carried out, and those of further branches on the value,
 * until all ways have come to the same instruction with the same stack pointer. What differs
 * between them there gets a shadow of its own, and is followed until nothing is left of it: then
 * the branch has decided nothing. Where it is stored anywhere but on the stack, decides anything,
 * is handed to a function or the kernel, or is not gone within SETTLING instructions, the branch
 * counts. So does a store to other memory that not all ways make, whatever it stores.
 *
 * The second register of a result, and vectors that may be one, tell nothing by being there still:
 * few functions return anything in them, and those that do not leave there what they computed with.
 * What is returned there its caller looks at before its registers are used up. So where the code
 * can be followed no further, what has lain in them untouched since a return is no difference.
 */
#include "insn/shadow_step.h"

#include <string.h>

#define SETTLING 256	  /* instructions */
#define STACK_ABOVE 65536 /* bytes above the stack pointer that are the thread's stack */
#define WRITE_MOST 4096	  /* bytes of one write that are compared */

#define FIRST_RESULT (1u << 0)	/* rax */
#define SECOND_RESULT (1u << 2) /* rdx */
#define VECTOR_RESULTS 3u	/* xmm0 and xmm1 */

enum settling {
	GOES_ON,
	DECIDES,
	/* It cannot be followed any further: what is left of the difference says what it means. */
	ENDS,
};

static uint64_t stack_of(const struct shadow_state *state)
{
	return state->forward.general[insn_arch.stack_pointer];
}

static bool on_stack(const struct shadow_state *state, uint64_t address)
{
	return address - (stack_of(state) - insn_arch.red_zone) < STACK_ABOVE;
}

/* Of frames that are gone. */
static bool below_stack(const struct shadow_state *state, uint64_t address)
{
	uint64_t top = stack_of(state) - insn_arch.red_zone;

	return top - address - 1 < STACK_ABOVE;
}

/* ------------------------------------------------------------------------------------------- */
/* One way */

static bool enters(struct shadow_walk *walk, struct shadow_state *state)
{
	struct shadow_answer answer;

	switch (shadow_step_arrive(walk, state, &answer)) {
	case SHADOW_FOLLOW:
		return true;
	case SHADOW_SKIP:
		/* Who prints on one way alone, or on both, has not met yet. */
		return !answer.depends && !answer.prints && shadow_step_skip(state, &answer);
	default:
		return false;
	}
}

/* The other direction of a conditional branch at `from` that has just been carried out. */
static void turn(struct shadow_state *state, const struct insn *insn, uint64_t from)
{
	uint64_t next = from + insn->length;

	state->forward.pc = state->forward.pc == next ? (uint64_t)insn->target : next;
}

/* `taken`: choices so far. False: the way cannot be followed any further. */
static bool advance(struct shadow_walk *walk, struct shadow_state *state,
		    const struct shadow_way *way, unsigned *taken)
{
	struct shadow_step step;
	uint64_t from = state->forward.pc;
	bool vague, leaves, chooses;
	enum shadow_sink sink;

	if (!shadow_step_decode(walk, state, &step) || step.effect.insn.flow == INSN_FLOW_SYSCALL)
		return false;
	sink = shadow_step_sink(state, &step, &vague);
	chooses = sink == SHADOW_SINK_BRANCH ||
		  (step.effect.insn.flow == INSN_FLOW_BRANCH && step.effect.insn.conditional &&
		   !state->forward.flags_known);
	if ((sink && !chooses) || (chooses && *taken == SHADOW_MEET_CHOICES) ||
	    !shadow_step_carry_out(state, &step, &leaves) ||
	    !(state->forward.known >> insn_arch.stack_pointer & 1))
		return false;
	if (chooses && way->choice[(*taken)++])
		turn(state, &step.effect.insn, from);
	return !leaves || step.effect.insn.flow == INSN_FLOW_RETURN || enters(walk, state);
}

/* ------------------------------------------------------------------------------------------- */
/* Where they meet */

static void begin(const struct shadow_state *from, struct shadow_state *state)
{
	*state = *from;
	state->changed_general = 0;
	state->changed_vectors = 0;
}

/* Ways that differ at choices which this one has made first are followed, too. False: there is no
 * room for them. */
static bool branch_off(struct shadow_meeting *meeting, unsigned number, unsigned taken)
{
	struct shadow_way *way = &meeting->way[number];

	while (way->chosen < taken) {
		struct shadow_way *other = &meeting->way[meeting->ways];

		if (meeting->ways == SHADOW_MEET_WAYS)
			return false;
		*other = *way;
		memset(other->choice + way->chosen, 0, SHADOW_MEET_CHOICES - way->chosen);
		other->choice[way->chosen++] = 1;
		other->chosen = way->chosen;
		meeting->ways++;
	}
	return true;
}

static void note_point(struct shadow_meeting *meeting, unsigned number, unsigned step)
{
	struct shadow_point point = {meeting->other.forward.pc, stack_of(&meeting->other)};

	if (number == 0) {
		meeting->at[0][meeting->points] = (uint16_t)step;
		meeting->point[meeting->points++] = point;
		return;
	}
	for (unsigned i = 0; i < meeting->points; i++)
		if (meeting->point[i].pc == point.pc && meeting->point[i].stack == point.stack &&
		    !meeting->at[number][i]) {
			meeting->at[number][i] = (uint16_t)step;
			return;
		}
}

static void follow_way(struct shadow_walk *walk, const struct shadow_state *from, unsigned number)
{
	struct shadow_meeting *meeting = &walk->meeting;
	unsigned taken = 0;

	begin(from, &meeting->other);
	for (unsigned step = 1; step <= SHADOW_MEET_STEPS; step++) {
		if (!advance(walk, &meeting->other, &meeting->way[number], &taken) ||
		    !branch_off(meeting, number, taken))
			return;
		note_point(meeting, number, step);
	}
}

/* The first place that all ways come to; -1: none. */
static int find_meeting(const struct shadow_meeting *meeting)
{
	for (unsigned i = 0; i < meeting->points; i++) {
		unsigned way = 0;

		while (way < meeting->ways && meeting->at[way][i])
			way++;
		if (way == meeting->ways)
			return (int)i;
	}
	return -1;
}

static bool repeat_way(struct shadow_walk *walk, const struct shadow_state *from, unsigned number,
		       unsigned steps, struct shadow_state *state)
{
	unsigned taken = 0;

	begin(from, state);
	for (unsigned i = 0; i < steps; i++)
		if (!advance(walk, state, &walk->meeting.way[number], &taken))
			return false;
	return true;
}

/* ------------------------------------------------------------------------------------------- */
/* What differs */

static bool have_same_flags(const struct shadow_state *a, const struct shadow_state *b)
{
	const struct insn_forward *of_a = &a->forward, *of_b = &b->forward;

	return of_a->flags_known && of_b->flags_known && !a->shadow.flags && !b->shadow.flags &&
	       of_a->zero == of_b->zero && of_a->sign == of_b->sign && of_a->carry == of_b->carry &&
	       of_a->overflow == of_b->overflow && of_a->parity == of_b->parity;
}

static void compare_registers(const struct shadow_state *a, const struct shadow_state *b,
			      struct shadow *difference)
{
	uint32_t vectors = a->changed_vectors | b->changed_vectors;

	for (unsigned i = 0; i < INSN_GENERAL; i++) {
		bool known = a->forward.known & b->forward.known & 1u << i;
		bool changed = (a->changed_general | b->changed_general) >> i & 1;

		if (known)
			difference->general[i] |= a->forward.general[i] ^ b->forward.general[i];
		else if (changed)
			difference->general[i] = ~0ull;
		difference->general[i] |= a->shadow.general[i] ^ b->shadow.general[i];
	}
	for (unsigned i = 0; i < SHADOW_VECTORS; i++)
		if ((vectors >> i & 1) ||
		    memcmp(a->shadow.vector[i], b->shadow.vector[i], SHADOW_LINE) != 0) {
			memset(difference->vector[i], 0xff, SHADOW_LINE);
			difference->vectors |= 1u << i;
		}
	for (unsigned i = 0; i < 8; i++)
		difference->mask[i] |= a->shadow.mask[i] ^ b->shadow.mask[i];
	if (!have_same_flags(a, b))
		difference->flags = INSN_FLAGS_ALL;
}

/* `number`: counted from the walk's beginning. */
static const struct insn_forward_write *write_of(const struct shadow_state *state, unsigned number)
{
	return &state->forward.write[number % INSN_FORWARD_WRITES];
}

static bool writes_byte(const struct shadow_state *state, unsigned since, uint64_t address)
{
	for (unsigned i = since; i < state->forward.writes; i++)
		if (address - write_of(state, i)->address < write_of(state, i)->length)
			return true;
	return false;
}

static bool is_same_byte(const struct shadow_state *a, const struct shadow_state *b,
			 uint64_t address)
{
	struct value in_a = forward_read_memory(&a->forward, address, 1),
		     in_b = forward_read_memory(&b->forward, address, 1);
	uint8_t shadow_a, shadow_b;

	shadow_read(&a->shadow, address, &shadow_a, 1);
	shadow_read(&b->shadow, address, &shadow_b, 1);
	return in_a.known && in_b.known && in_a.bits == in_b.bits && shadow_a == shadow_b;
}

/* Whether a byte that `a` has written is the same in `b`, or only differs where the thread itself
 * may still look at it. */
static bool compare_byte(const struct shadow_state *a, const struct shadow_state *b, unsigned since,
			 uint64_t address, struct shadow *difference)
{
	if (below_stack(a, address))
		return true;
	if (!on_stack(a, address))
		return writes_byte(b, since, address) && is_same_byte(a, b, address);
	if (!is_same_byte(a, b, address))
		shadow_fill(difference, address, 0xff, 1);
	return true;
}

/* What `a` has written since the branch, seen from `b`. False: a difference that others may see. */
static bool compare_writes(const struct shadow_state *a, const struct shadow_state *b,
			   unsigned since, struct shadow *difference)
{
	if (a->forward.writes - since > INSN_FORWARD_WRITES)
		return false;
	for (unsigned i = since; i < a->forward.writes; i++) {
		const struct insn_forward_write *write = write_of(a, i);

		if (write->length > WRITE_MOST)
			return false;
		for (uint64_t at = 0; at < write->length; at++)
			if (!compare_byte(a, b, since, write->address + at, difference))
				return false;
	}
	return !difference->lost;
}

static bool compare_ways(struct shadow_walk *walk, const struct shadow_state *from, unsigned at)
{
	struct shadow_meeting *meeting = &walk->meeting;

	memset(&meeting->difference, 0, sizeof(meeting->difference));
	if (!repeat_way(walk, from, 0, meeting->at[0][at], &meeting->first))
		return false;
	for (unsigned i = 1; i < meeting->ways; i++) {
		if (!repeat_way(walk, from, i, meeting->at[i][at], &meeting->other))
			return false;
		compare_registers(&meeting->first, &meeting->other, &meeting->difference);
		if (!compare_writes(&meeting->first, &meeting->other, from->forward.writes,
				    &meeting->difference) ||
		    !compare_writes(&meeting->other, &meeting->first, from->forward.writes,
				    &meeting->difference))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------- */
/* Until nothing is left of it */

/* Of memory below the stack pointer, which the function that has returned used. */
static void forget_frames(struct shadow_state *state)
{
	for (unsigned i = 0; i < SHADOW_LINES; i++)
		for (unsigned j = 0; state->shadow.line[i].address && j < SHADOW_LINE; j++)
			if (stack_of(state) - state->shadow.line[i].address - j - 1 < STACK_ABOVE)
				state->shadow.line[i].bits[j] = 0;
}

/* Registers that a function leaves to its caller in any state. */
static void forget_scratch(struct shadow *shadow)
{
	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (!((INSN_KEPT_BY_CALLS | FIRST_RESULT | SECOND_RESULT) >> i & 1))
			shadow->general[i] = 0;
	for (unsigned i = 0; i < SHADOW_VECTORS; i++)
		if (!(VECTOR_RESULTS >> i & 1))
			memset(shadow->vector[i], 0, SHADOW_LINE);
	memset(shadow->mask, 0, sizeof(shadow->mask));
	shadow->vectors &= VECTOR_RESULTS;
	shadow->flags = 0;
}

/* From here on `changed_…` says what was written since. */
static void returned(struct shadow_state *state)
{
	forget_scratch(&state->shadow);
	forget_frames(state);
	state->changed_general &= (uint16_t)~SECOND_RESULT;
	state->changed_vectors &= ~VECTOR_RESULTS;
}

/* Is nothing left but what a function that has returned may have left there for nobody? */
static bool is_idle(const struct shadow_state *state)
{
	const struct shadow *shadow = &state->shadow;
	uint64_t any = shadow->flags |
		       (shadow->vectors & (~VECTOR_RESULTS | state->changed_vectors));

	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (!(SECOND_RESULT >> i & 1) || state->changed_general >> i & 1)
			any |= shadow->general[i];
	for (unsigned i = 0; i < 8; i++)
		any |= shadow->mask[i];
	return !any;
}

/* In memory: 0: none; 1: on the stack; -1: elsewhere. */
static int in_memory(const struct shadow_state *state)
{
	int found = 0;

	for (unsigned i = 0; i < SHADOW_LINES; i++)
		for (unsigned j = 0; state->shadow.line[i].address && j < SHADOW_LINE; j++) {
			if (!state->shadow.line[i].bits[j])
				continue;
			if (!on_stack(state, state->shadow.line[i].address + j))
				return -1;
			found = 1;
		}
	return found;
}

static bool hands_over(const struct shadow *shadow, const struct shadow_answer *answer)
{
	static const uint8_t argument[] = {7, 6, 2, 1, 8, 9};
	unsigned count = answer->arguments ? answer->arguments : sizeof(argument);

	for (unsigned i = 0; i < count && i < sizeof(argument); i++)
		if (shadow->general[argument[i]])
			return true;
	return !answer->arguments && shadow->vectors & 0xff;
}

static bool is_unknown(const struct shadow_state *state, const struct insn *insn)
{
	return insn->flow == INSN_FLOW_SYSCALL ||
	       (insn->flow == INSN_FLOW_BRANCH && insn->conditional && !state->forward.flags_known);
}

/* Where a call or an indirect jump has led. */
static enum settling settles_in(struct shadow_walk *walk, struct shadow_state *state)
{
	struct shadow_answer answer;

	switch (shadow_step_arrive(walk, state, &answer)) {
	case SHADOW_FOLLOW:
		return GOES_ON;
	case SHADOW_SKIP:
		if (answer.depends || hands_over(&state->shadow, &answer))
			return DECIDES;
		return shadow_step_skip(state, &answer) ? GOES_ON : ENDS;
	default:
		return ENDS;
	}
}

static enum settling settles_on(struct shadow_walk *walk, struct shadow_state *state)
{
	struct shadow_step step;
	bool vague, leaves;

	if (!shadow_step_decode(walk, state, &step))
		return ENDS;
	if (shadow_step_sink(state, &step, &vague))
		return DECIDES;
	if (is_unknown(state, &step.effect.insn) || !shadow_step_carry_out(state, &step, &leaves))
		return ENDS;
	if (step.effect.insn.flow == INSN_FLOW_RETURN)
		returned(state);
	if (!leaves || step.effect.insn.flow == INSN_FLOW_RETURN)
		return GOES_ON;
	return settles_in(walk, state);
}

static bool settles(struct shadow_walk *walk)
{
	struct shadow_state *state = &walk->meeting.other;
	enum settling settling = GOES_ON;

	*state = walk->meeting.first;
	state->shadow = walk->meeting.difference;
	state->changed_general = (uint16_t)~0u;
	state->changed_vectors = ~0u;
	for (unsigned i = 0; i < SETTLING && settling == GOES_ON; i++) {
		int memory = in_memory(state);

		if (memory < 0 || state->shadow.lost)
			return false;
		if (!memory && !shadow_in_registers(&state->shadow))
			return true;
		settling = settles_on(walk, state);
	}
	return settling != DECIDES && !in_memory(state) && !state->shadow.lost && is_idle(state);
}

bool shadow_meet(struct shadow_walk *walk, struct shadow_state *state)
{
	struct shadow_meeting *meeting = &walk->meeting;
	int at;

	memset(meeting->way, 0, sizeof(meeting->way));
	memset(meeting->at, 0, sizeof(meeting->at));
	meeting->ways = 1;
	meeting->points = 0;
	for (unsigned i = 0; i < meeting->ways; i++)
		follow_way(walk, state, i);
	at = find_meeting(meeting);
	if (at < 0 || !compare_ways(walk, state, (unsigned)at) || !settles(walk))
		return false;
	*state = meeting->first;
	return true;
}
