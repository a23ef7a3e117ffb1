/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction on a state: what it may decide, then its values and shadows. */
#include "insn/shadow_step.h"

#include "insn/operand.h"

#include <string.h>

#define STRING_MOST 65536 /* bytes of one repeated string instruction */
#define STACK_BELOW 65536 /* below the stack pointer: what returned functions left */

/* ------------------------------------------------------------------------------------------- */
/* Where operands are */

void shadow_locate(const struct insn *insn, const struct insn_registers *registers, uint16_t known,
		   bool after, struct shadow_operands *operands)
{
	for (unsigned i = 0; i < insn->operand_count; i++) {
		const struct insn_operand *operand = &insn->operand[i];
		uint64_t first, length;
		int err;

		operands->known[i] = false;
		if ((operand->base >= 0 && operand->base < INSN_GENERAL &&
		     !(known >> operand->base & 1)) ||
		    (operand->index >= 0 && !(known >> operand->index & 1)) ||
		    operand->vector_index >= 0 || (operand->segment && !registers->fs_base))
			continue;
		err = after ? insn_operand_after(insn, i, registers, &first, &length)
			    : insn_operand_before(insn, i, registers, &first, &length);
		operands->known[i] = !err;
		operands->address[i] = first;
	}
}

static void locate_next(const struct shadow_state *state, const struct insn *insn,
			struct shadow_operands *operands)
{
	struct insn_registers registers = {.pc = state->forward.pc,
					   .fs_base = state->forward.fs_base};

	memcpy(registers.general, state->forward.general, sizeof(registers.general));
	shadow_locate(insn, &registers, state->forward.known, false, operands);
}

bool shadow_step_decode(const struct shadow_walk *walk, const struct shadow_state *state,
			struct shadow_step *step)
{
	uint64_t pc = state->forward.pc;

	memset(&step->operands, 0, sizeof(step->operands));
	step->available = walk->code(walk->context, pc, step->bytes, sizeof(step->bytes));
	if (!step->available ||
	    insn_effect_decode(step->bytes, step->available, pc, &step->effect) ||
	    step->effect.insn.flow == INSN_FLOW_TRAP)
		return false;
	locate_next(state, &step->effect.insn, &step->operands);
	return true;
}

/* ------------------------------------------------------------------------------------------- */
/* What depends on the value */

bool shadow_is_in(const struct shadow *shadow, int number)
{
	return number >= 0 && number < INSN_GENERAL && shadow->general[number];
}

/* An address that is made of the value. Of masked or conditional operands too. */
static enum shadow_sink address_sink(const struct shadow *shadow, const struct insn *insn,
				     bool *vague)
{
	for (unsigned i = 0; i < insn->operand_count; i++) {
		const struct insn_operand *operand = &insn->operand[i];

		if (!operand->access)
			continue;
		if (shadow_is_in(shadow, operand->base)) {
			*vague = shadow->vague_general >> operand->base & 1;
			return SHADOW_SINK_ADDRESS;
		}
		if (shadow_is_in(shadow, operand->index)) {
			*vague = shadow->vague_general >> operand->index & 1;
			return SHADOW_SINK_INDEX;
		}
	}
	return SHADOW_SINK_NONE;
}

static enum shadow_sink decision_sink(const struct shadow *shadow, const struct shadow_step *step,
				      bool *vague)
{
	const struct insn_effect *effect = &step->effect;

	if (effect->decides.kind == INSN_PLACE_NONE ||
	    !shadow_of_place(shadow, &effect->decides, &step->operands, vague))
		return SHADOW_SINK_NONE;
	return effect->insn.conditional ? SHADOW_SINK_BRANCH : SHADOW_SINK_TARGET;
}

enum shadow_sink shadow_step_sink(const struct shadow_state *state, const struct shadow_step *step,
				  bool *vague)
{
	enum shadow_sink sink = address_sink(&state->shadow, &step->effect.insn, vague);

	return sink ? sink : decision_sink(&state->shadow, step, vague);
}

bool shadow_in_registers(const struct shadow *shadow)
{
	uint64_t any = shadow->vectors | shadow->flags;

	for (unsigned i = 0; i < INSN_GENERAL; i++)
		any |= shadow->general[i];
	for (unsigned i = 0; i < 8; i++)
		any |= shadow->mask[i];
	return any;
}

/* ------------------------------------------------------------------------------------------- */
/* Repeated string instructions, as a whole */

static void move_shadow(struct shadow *shadow, uint64_t to, uint64_t from, uint64_t length)
{
	uint8_t bits[SHADOW_LINE];

	for (uint64_t done = 0; done < length; done += sizeof(bits)) {
		size_t part = length - done < sizeof(bits) ? (size_t)(length - done) : sizeof(bits);

		shadow_read(shadow, from + done, bits, part);
		shadow_write(shadow, to + done, bits, part);
	}
}

/* movs and stos, forwards as compilers and libraries use them. False: not such a one, or its extent
 * is not known. */
static bool repeat(struct shadow_state *state, const struct insn_effect *effect)
{
	struct insn_forward *forward = &state->forward;
	const struct insn *insn = &effect->insn;
	const struct insn_result *first = &effect->result[0];
	unsigned element = insn->operand[0].size;
	uint64_t length = forward->general[insn_arch.repeat_count] * element;
	bool moves = insn->operand_count == 2;

	if (!insn->repeated || !effect->count || first->to.kind != INSN_PLACE_MEMORY ||
	    !(forward->known >> insn_arch.repeat_count & 1) ||
	    !(forward->known >> insn_arch.string_to & 1) ||
	    (moves && !(forward->known >> insn_arch.string_from & 1)) ||
	    forward->general[insn_arch.repeat_count] > STRING_MOST || length > STRING_MOST)
		return false;
	if (moves)
		move_shadow(&state->shadow, forward->general[insn_arch.string_to],
			    forward->general[insn_arch.string_from], length);
	else
		shadow_fill(&state->shadow, forward->general[insn_arch.string_to],
			    state->shadow.general[insn_arch.string_value] ? 0xff : 0, length);
	forward_write_memory(forward, forward->general[insn_arch.string_to], (unsigned)length,
			     value_unknown);
	forward->general[insn_arch.string_to] += length;
	if (moves)
		forward->general[insn_arch.string_from] += length;
	forward->general[insn_arch.repeat_count] = 0;
	forward->pc += insn->length;
	return true;
}

/* ------------------------------------------------------------------------------------------- */
/* Carrying it out */

static void drop_old_frames(struct shadow_state *state)
{
	uint64_t top = state->forward.general[insn_arch.stack_pointer] - insn_arch.red_zone;

	for (unsigned i = 0; i < SHADOW_LINES; i++) {
		uint64_t end = state->shadow.line[i].address + SHADOW_LINE;

		if (state->shadow.line[i].address && top - end < STACK_BELOW)
			memset(&state->shadow.line[i], 0, sizeof(state->shadow.line[i]));
	}
}

static void note_change(struct shadow_state *state, const struct insn_result *result)
{
	if (result->to.kind == INSN_PLACE_GENERAL)
		state->changed_general |= (uint16_t)(1u << (result->to.number & 15));
	if (result->to.kind == INSN_PLACE_VECTOR && result->operation != INSN_CONSTANT)
		state->changed_vectors |= 1u << result->to.number % SHADOW_VECTORS;
}

bool shadow_step_carry_out(struct shadow_state *state, const struct shadow_step *step, bool *leaves)
{
	const struct insn_effect *effect = &step->effect;

	*leaves = false;
	for (unsigned i = 0; i < effect->count; i++)
		note_change(state, &effect->result[i]);
	if (repeat(state, effect))
		return true;
	shadow_apply(&state->shadow, effect, &step->operands, &state->forward, &state->vectors);
	if (insn_forward_step(&state->forward, step->bytes, step->available, leaves))
		return false;
	shadow_vector_tell(&state->vectors, &state->forward);
	if (effect->insn.flow == INSN_FLOW_RETURN)
		drop_old_frames(state);
	return true;
}

enum shadow_function shadow_step_arrive(const struct shadow_walk *walk, struct shadow_state *state,
					struct shadow_answer *answer)
{
	enum shadow_function function;

	*answer = (struct shadow_answer){0};
	function = walk->function(walk->context, state, answer);
	if (function != SHADOW_DETOUR)
		return function;
	state->forward.general[insn_arch.stack_pointer] += answer->discards;
	state->forward.pc = answer->target;
	*answer = (struct shadow_answer){0};
	function = walk->function(walk->context, state, answer);
	return function == SHADOW_DETOUR ? SHADOW_END : function;
}

/* Registers that a called function may change hold nothing of the value when it returns. */
bool shadow_step_skip(struct shadow_state *state, const struct shadow_answer *answer)
{
	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (!(INSN_KEPT_BY_CALLS >> i & 1))
			state->shadow.general[i] = 0;
	memset(state->shadow.vector, 0, sizeof(state->shadow.vector));
	memset(state->shadow.mask, 0, sizeof(state->shadow.mask));
	state->shadow.vectors = 0;
	state->shadow.flags = 0;
	state->changed_general |= (uint16_t)~INSN_KEPT_BY_CALLS;
	state->changed_vectors = ~0u;
	memset(state->vectors.known, 0, sizeof(state->vectors.known));
	if (answer->length) {
		if (answer->from)
			move_shadow(&state->shadow, answer->to, answer->from, answer->length);
		else
			shadow_fill(&state->shadow, answer->to, 0, answer->length);
		forward_write_memory(&state->forward, answer->to, (unsigned)answer->length,
				     value_unknown);
	}
	if (insn_forward_return(&state->forward))
		return false;
	state->late |= !answer->known && !answer->prints;
	if (answer->known)
		forward_know_register(&state->forward, insn_arch.function_result, answer->value);
	return true;
}
