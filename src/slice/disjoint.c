/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of numbers that have no bit in common: compilers put fields of a word together by them, as
 * by `or`. Which bits a register may hold is known from the instructions right before that one, on
 * the way on which all come there.
 */
#include "slice/disjoint.h"

#define LOOK_BACK 16 /* instructions before the sum that are looked at */
#define DEPTH 6	     /* how many steps from a result to its sources */

static uint64_t low_bits(unsigned bytes)
{
	return bytes < 8 ? (1ull << 8 * bytes) - 1 : UINT64_MAX;
}

static uint64_t may_make(const struct flow_slice_work *work, uint16_t index,
			 const struct insn_result *result, unsigned depth);

/* The one result of an instruction that writes the whole register; NULL: it is no such
 * instruction. */
static const struct insn_result *find_writer(const struct insn_effect *effect,
					     const struct insn_place *place)
{
	const struct insn_result *writer = NULL;

	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];

		if (result->to.kind != place->kind || result->to.number != place->number)
			continue;
		if (writer || result->conditional || result->to.first ||
		    (result->to.length < place->length && !result->clears))
			return NULL;
		writer = result;
	}
	return writer;
}

/* The bits that may be set in the register before the instruction. */
static uint64_t may_hold(const struct flow_slice_work *work, uint16_t index,
			 const struct insn_place *place, unsigned depth)
{
	uint64_t all = low_bits(place->length);

	if (place->kind != INSN_PLACE_GENERAL || place->first || !depth)
		return all;
	for (unsigned i = index; i-- > 0 && index - i <= LOOK_BACK;) {
		const struct insn_effect *effect = &work->effect[i];
		const struct insn_result *writer;

		if (effect->insn.flow != INSN_FLOW_NEXT || effect->more ||
		    work->pc[i] + effect->insn.length != work->pc[i + 1] || work->joined[i + 1])
			return all;
		if (!(effect->insn.written_registers >> place->number & 1))
			continue;
		writer = find_writer(effect, place);
		return writer ? may_make(work, (uint16_t)i, writer, depth - 1) & all : all;
	}
	return all;
}

static uint64_t may_be(const struct flow_slice_work *work, uint16_t index,
		       const struct insn_result *result, unsigned source, unsigned depth)
{
	const struct insn_place *from = &result->source[source];

	if (from->kind == INSN_PLACE_CONSTANT)
		return result->constant;
	return from->shift ? UINT64_MAX : may_hold(work, index, from, depth);
}

static uint64_t may_make(const struct flow_slice_work *work, uint16_t index,
			 const struct insn_result *result, unsigned depth)
{
	uint64_t all = low_bits(result->to.length), one, other;
	unsigned by = (unsigned)(result->constant & (result->to.length == 8 ? 63 : 31));

	if (result->operation == INSN_CONSTANT)
		return result->constant & all;
	if (!result->source_count || result->source_count > 2)
		return all;
	one = may_be(work, index, result, 0, depth);
	other = result->source_count > 1 ? may_be(work, index, result, 1, depth) : 0;
	switch (result->operation) {
	case INSN_COPY:
		return one & all;
	case INSN_AND:
		return one & other & all;
	case INSN_OR:
	case INSN_XOR:
		return result->source_count == 2 ? (one | other) & all : all;
	case INSN_ADD:
		return result->source_count == 2 && !(one & other & all) ? (one | other) & all
									 : all;
	case INSN_SHIFT_LEFT:
		return result->source[1].kind == INSN_PLACE_CONSTANT ? one << by & all : all;
	case INSN_SHIFT_RIGHT:
		return result->source[1].kind == INSN_PLACE_CONSTANT ? (one & all) >> by : all;
	default:
		return all;
	}
}

bool slice_is_disjoint(const struct flow_slice_work *work, uint16_t index,
		       const struct insn_result *result)
{
	/* A source that is shifted as it is added has its bytes in other places than the result. */
	return result->operation == INSN_ADD && result->source_count == 2 &&
	       !result->source[0].shift && !result->source[1].shift &&
	       result->to.kind == INSN_PLACE_GENERAL && !result->to.first &&
	       !(may_be(work, index, result, 0, DEPTH) & may_be(work, index, result, 1, DEPTH) &
		 low_bits(result->to.length));
}
