/* SPDX-License-Identifier: Apache-2.0 */
#include "slice/bits.h"

#include <stdbool.h>

/* The lowest `count` bits. */
static uint64_t low_bits(unsigned count)
{
	return count < 64 ? (1ull << count) - 1 : UINT64_MAX;
}

/* The highest set bit and all bits below it. */
static uint64_t up_to(uint64_t bits)
{
	return bits ? low_bits(64 - (unsigned)__builtin_clzll(bits)) : 0;
}

static bool is_small(const struct insn_place *place)
{
	return place->kind != INSN_PLACE_VECTOR && place->length && place->length <= 8 &&
	       !place->shift;
}

static bool has_constant(const struct insn_result *result)
{
	for (unsigned i = 0; i < result->source_count; i++)
		if (result->source[i].kind == INSN_PLACE_CONSTANT)
			return true;
	return false;
}

/* The bits needed of the source of a shift by a constant; the operand has `size` bits. */
static uint64_t shifted(const struct insn_result *result, unsigned size, uint64_t wanted)
{
	unsigned by = (unsigned)(result->constant & (size == 64 ? 63 : 31));
	uint64_t needed;

	if (by >= size)
		return low_bits(size);
	if (result->operation == INSN_SHIFT_LEFT)
		return wanted >> by;
	needed = wanted << by & low_bits(size);
	/* An arithmetic shift fills what is above with the top bit. */
	if (result->operation == INSN_SHIFT_RIGHT_SIGN && wanted & ~(low_bits(size) >> by))
		needed |= 1ull << (size - 1);
	return needed;
}

static uint64_t extended(const struct insn_place *source, uint64_t wanted)
{
	uint64_t own = low_bits(8u * source->length);

	return (wanted & own) | (wanted & ~own ? 1ull << (8u * source->length - 1) : 0);
}

static uint64_t needed_of(const struct insn_result *result, unsigned source, uint64_t wanted)
{
	const struct insn_place *from = &result->source[source];
	unsigned size = 8u * result->to.length;

	switch (result->operation) {
	case INSN_COPY:
	case INSN_XOR:
	case INSN_AND_NOT:
	case INSN_SELECT:
		return wanted;
	case INSN_COPY_SIGN:
		return extended(from, wanted);
	case INSN_AND:
		return has_constant(result) ? wanted & result->constant : wanted;
	case INSN_OR:
		return has_constant(result) ? wanted & ~result->constant : wanted;
	case INSN_ADD:
	case INSN_MULTIPLY:
		return up_to(wanted);
	case INSN_SHIFT_LEFT:
	case INSN_SHIFT_RIGHT:
	case INSN_SHIFT_RIGHT_SIGN:
		return source == 0 && has_constant(result) && from->length == result->to.length
			       ? shifted(result, size, wanted)
			       : SLICE_ALL_BITS;
	default:
		return SLICE_ALL_BITS;
	}
}

uint64_t slice_bits_needed(const struct insn_result *result, unsigned source, uint64_t wanted)
{
	const struct insn_place *from = &result->source[source];
	uint64_t all, needed;

	if (!is_small(&result->to) || !is_small(from))
		return SLICE_ALL_BITS;
	all = low_bits(8u * from->length);
	needed = needed_of(result, source, wanted & low_bits(8u * result->to.length)) & all;
	return needed == all ? SLICE_ALL_BITS : needed;
}

uint64_t slice_bits_part(uint64_t bits, unsigned first, unsigned length)
{
	uint64_t all = low_bits(8 * length);

	if (bits == SLICE_ALL_BITS || first >= 8 || length > 8)
		return SLICE_ALL_BITS;
	bits = bits >> 8 * first & all;
	return bits == all ? SLICE_ALL_BITS : bits;
}

uint64_t slice_bits_behind(uint64_t bits, unsigned first)
{
	return bits == SLICE_ALL_BITS || first >= 8 ? SLICE_ALL_BITS : bits << 8 * first;
}

uint64_t slice_bits_bytes(uint64_t bits)
{
	uint64_t bytes = UINT64_MAX << 8;

	if (bits == SLICE_ALL_BITS)
		return UINT64_MAX;
	for (unsigned i = 0; i < 8; i++)
		if (bits >> 8 * i & 0xff)
			bytes |= 1ull << i;
	return bytes;
}
