/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/alignment.h"

#include "insn/effect.h"

#define REGISTER_RAX 0
#define BEFORE_MOST 16u /* instructions that save registers and make room */
#define BEHIND_MOST 64u /* among which the function calls another one, or sets rax */

static bool decode(alignment_code_fn *code, void *context, uint64_t pc, struct insn_effect *effect)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = code(context, pc, bytes, sizeof(bytes));

	return available && !insn_effect_decode(bytes, available, pc, effect);
}

static bool is_rax(const struct insn_place *place)
{
	return place->kind == INSN_PLACE_GENERAL && place->number == REGISTER_RAX;
}

static bool writes_rax(const struct insn_effect *effect)
{
	return effect->insn.written_registers >> REGISTER_RAX & 1;
}

/* Is all of rax set, with nothing of what it was before kept? Instructions that set a part of it
 * count as reading the rest. */
static bool sets_rax(const struct insn_effect *effect)
{
	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];

		if (is_rax(&result->to) && !result->conditional && !result->to.first &&
		    (result->to.length == 8 || result->clears))
			return true;
	}
	return false;
}

static bool looks_at_rax(const struct insn_effect *effect)
{
	for (unsigned i = 0; i < effect->insn.operand_count; i++)
		if (effect->insn.operand[i].base == REGISTER_RAX ||
		    effect->insn.operand[i].index == REGISTER_RAX)
			return true;
	for (unsigned i = 0; i < effect->count; i++)
		for (unsigned j = 0; effect->result[i].operation != INSN_CONSTANT &&
				     j < effect->result[i].source_count;
		     j++)
			if (is_rax(&effect->result[i].source[j]))
				return true;
	return is_rax(&effect->decides) || effect->more ||
	       (writes_rax(effect) && !sets_rax(effect));
}

/* Does straight code lead from the function's start to the push, without a change of rax? */
static bool is_reached_at_once(alignment_code_fn *code, void *context, uint64_t start, uint64_t pc)
{
	for (unsigned i = 0; i < BEFORE_MOST && start < pc; i++) {
		struct insn_effect effect;

		if (!decode(code, context, start, &effect) || effect.insn.flow != INSN_FLOW_NEXT ||
		    writes_rax(&effect))
			return false;
		start += effect.insn.length;
	}
	return start == pc;
}

/* Is rax never read behind the push? That holds as soon as it is set anew, or another function is
 * called: what that one needs in rax would have been set for it. */
static bool is_rax_over(alignment_code_fn *code, void *context, uint64_t pc)
{
	for (unsigned i = 0; i < BEHIND_MOST; i++) {
		struct insn_effect effect;

		if (!decode(code, context, pc, &effect) || looks_at_rax(&effect))
			return false;
		if (effect.insn.flow == INSN_FLOW_CALL ||
		    effect.insn.flow == INSN_FLOW_CALL_INDIRECT || sets_rax(&effect))
			return true;
		if (effect.insn.flow != INSN_FLOW_NEXT &&
		    !(effect.insn.flow == INSN_FLOW_BRANCH && effect.insn.conditional))
			return false;
		pc += effect.insn.length;
	}
	return false;
}

bool is_alignment_push(alignment_code_fn *code, void *context, uint64_t start, uint64_t pc)
{
	uint8_t byte;

	return code(context, pc, &byte, 1) == 1 && byte == ALIGNMENT_PUSH &&
	       is_reached_at_once(code, context, start, pc) && is_rax_over(code, context, pc + 1);
}
