/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks that a register holds: `movabs $0xffff00000000,%rdx; and %rcx,%rdx`. What such an
 * instruction leaves of its other source is as clear as where the mask is part of the instruction,
 * so the register is made a constant there, once the function is decoded. Looked for where no other
 * way leads to, straight above it.
 */
#include "slice/constants.h"

#include "slice/code.h"

#include <string.h>

#define STEPS 64 /* instructions that a mask is looked for above its use */

/* Marks the instructions that control comes to otherwise than from the one before. */
static void find_joined(struct flow_slice_work *work, uint64_t start)
{
	memcpy(work->joined, work->label, work->count);
	for (unsigned i = 0; i < work->count; i++) {
		const struct insn *insn = &work->effect[i].insn;
		uint16_t to = insn->flow == INSN_FLOW_BRANCH
				      ? slice_index(work, start, (uint64_t)insn->target)
				      : SLICE_NOWHERE;

		if (to != SLICE_NOWHERE)
			work->joined[to] = 1;
	}
}

static bool writes(const struct insn_effect *effect, uint8_t number)
{
	return slice_is_call(&effect->insn) || effect->insn.flow == INSN_FLOW_SYSCALL ||
	       effect->insn.written_registers >> number & 1;
}

static bool is_known(const struct insn_result *result)
{
	return result->operation == INSN_CONSTANT ||
	       (result->operation == INSN_COPY && result->source_count == 1 &&
		result->source[0].kind == INSN_PLACE_CONSTANT);
}

/* Does the instruction put a constant into all bytes of the register that `place` has? If it writes
 * 32 bits, the bytes above become zero. */
static bool makes_constant(const struct insn_effect *effect, const struct insn_place *place,
			   uint64_t *constant)
{
	const struct insn_result *result = &effect->result[0];
	bool whole = result->to.length >= place->length;
	bool extended = result->to.length == 4 && result->clears;

	*constant = whole ? result->constant : (uint32_t)result->constant;
	return effect->count && !effect->more && is_known(result) &&
	       result->to.kind == INSN_PLACE_GENERAL && result->to.number == place->number &&
	       !result->to.first && !result->conditional && (whole || extended);
}

static bool is_constant(const struct flow_slice_work *work, unsigned index,
			const struct insn_place *place, uint64_t *constant)
{
	if (place->kind != INSN_PLACE_GENERAL || place->first || place->shift)
		return false;
	for (unsigned step = 0; step < STEPS && index && !work->joined[index]; step++) {
		const struct insn_effect *effect = &work->effect[--index];

		if (!slice_falls_through(&effect->insn) ||
		    work->pc[index] + effect->insn.length != work->pc[index + 1])
			return false;
		if (writes(effect, place->number))
			return makes_constant(effect, place, constant);
	}
	return false;
}

static void fold(const struct flow_slice_work *work, unsigned index, struct insn_result *result)
{
	uint64_t constant;

	if ((result->operation != INSN_AND && result->operation != INSN_OR) ||
	    result->source_count != 2)
		return;
	for (unsigned i = 0; i < 2; i++)
		if (result->source[1 - i].kind != INSN_PLACE_CONSTANT &&
		    is_constant(work, index, &result->source[i], &constant)) {
			result->source[i].kind = INSN_PLACE_CONSTANT;
			result->constant = constant;
			return;
		}
}

void slice_fold_constants(struct flow_slice_work *work, uint64_t start)
{
	find_joined(work, start);
	for (unsigned i = 0; i < work->count; i++)
		for (unsigned j = 0; j < work->effect[i].count; j++)
			fold(work, i, &work->effect[i].result[j]);
}
