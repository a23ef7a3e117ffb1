/* SPDX-License-Identifier: Apache-2.0 */
#include "slice/bytes.h"

uint64_t slice_bytes_range(unsigned first, unsigned length)
{
	uint64_t bytes = length >= 64 ? UINT64_MAX : (1ull << length) - 1;

	return first >= 64 ? 0 : bytes << first;
}

bool slice_bytes_next(uint64_t *bytes, unsigned *first, unsigned *length)
{
	if (!*bytes)
		return false;
	*first = (unsigned)__builtin_ctzll(*bytes);
	*length = 0;
	while (*first + *length < 64 && *bytes >> (*first + *length) & 1)
		++*length;
	*bytes &= ~slice_bytes_range(*first, *length);
	return true;
}

uint64_t slice_bytes_common(const struct insn_place *outer, const struct insn_place *inner)
{
	unsigned outer_end = outer->first + outer->length, inner_end = inner->first + inner->length;
	unsigned first = inner->first > outer->first ? inner->first : outer->first;
	unsigned end = inner_end < outer_end ? inner_end : outer_end;

	return end > first ? slice_bytes_range(first - outer->first, end - first) : 0;
}

/* The constant among the sources, if there is one. */
static bool has_constant(const struct insn_result *result)
{
	for (unsigned i = 0; i < result->source_count; i++)
		if (result->source[i].kind == INSN_PLACE_CONSTANT)
			return true;
	return false;
}

/* The bytes of the source that a shift by a constant brings to a byte: two, of which one may lie
 * outside. */
static uint64_t shifted(const struct insn_result *result, unsigned byte)
{
	unsigned bits = (unsigned)(result->constant & (result->to.length == 8 ? 63 : 31));

	if (result->operation == INSN_SHIFT_RIGHT)
		return slice_bytes_range(byte + bits / 8, bits % 8 ? 2 : 1);
	if (byte < bits / 8)
		return 0;
	byte -= bits / 8;
	return byte && bits % 8 ? slice_bytes_range(byte - 1, 2) : slice_bytes_range(byte, 1);
}

static uint64_t shuffled(const struct insn_result *result, unsigned source, unsigned byte)
{
	unsigned from = result->lane[byte % INSN_LANES];
	unsigned at = byte / INSN_LANES * INSN_LANES + from % INSN_LANES;
	unsigned whole = result->operation == INSN_CONVERT ? result->element : 1;

	return from == INSN_LANE_ZERO || from / INSN_LANES != source
		       ? 0
		       : slice_bytes_range(at / whole * whole, whole);
}

static uint64_t element(const struct insn_result *result, const struct insn_place *source,
			unsigned byte)
{
	const unsigned whole = result->element;

	if (!whole || source->length != result->to.length)
		return UINT64_MAX;
	if (result->made && byte % whole >= result->made)
		return 0;
	return slice_bytes_range(byte / whole * whole, result->taken ? result->taken : whole);
}

/* Does the constant alone decide the byte? With AND zeroes, with OR ones leave nothing of the other
 * source. */
static bool decided(const struct insn_result *result, unsigned byte)
{
	unsigned alone = result->operation == INSN_AND ? 0 : 0xff;

	return has_constant(result) && byte < 8 && (result->constant >> 8 * byte & 0xff) == alone;
}

/* Is it `sbb` of a register with itself? That puts the carry into every bit, whatever the register
 * held. */
static bool spreads_carry(const struct insn_result *result)
{
	const struct insn_place *one = &result->source[0], *other = &result->source[1];

	return result->source_count == 3 && one->kind == INSN_PLACE_GENERAL &&
	       other->kind == one->kind && one->number == other->number &&
	       one->first == other->first;
}

/* The bytes of the source that byte `byte` of the result depends on. There may be more than need
 * be. */
static uint64_t bytes_of(const struct insn_result *result, unsigned source, unsigned byte)
{
	const struct insn_place *from = &result->source[source];

	switch (result->operation) {
	case INSN_CONSTANT:
		return 0;
	case INSN_AND:
	case INSN_OR:
		return decided(result, byte) ? 0 : slice_bytes_range(byte, 1);
	case INSN_COPY:
	case INSN_XOR:
	case INSN_AND_NOT:
	case INSN_SELECT:
		return slice_bytes_range(byte, 1);
	case INSN_COPY_SIGN:
		return slice_bytes_range(byte < from->length ? byte : from->length - 1u, 1);
	case INSN_COPY_REVERSED:
		return slice_bytes_range(result->to.length - 1u - byte, 1);
	case INSN_SUBTRACT:
		return spreads_carry(result) ? 0 : slice_bytes_range(0, byte + 1);
	case INSN_ADD:
	case INSN_MULTIPLY:
		return slice_bytes_range(0, byte + 1);
	case INSN_SHIFT_LEFT:
	case INSN_SHIFT_RIGHT:
		return source == 0 && has_constant(result) ? shifted(result, byte) : UINT64_MAX;
	case INSN_ELEMENTS:
		return element(result, from, byte);
	case INSN_SHUFFLE:
	case INSN_CONVERT:
		return shuffled(result, source, byte);
	default:
		return UINT64_MAX;
	}
}

uint64_t slice_bytes_needed(const struct insn_result *result, unsigned source, uint64_t wanted)
{
	uint64_t needed = 0;

	for (unsigned i = 0; i < result->to.length && i < 64; i++)
		if (wanted >> i & 1)
			needed |= bytes_of(result, source, i);
	return needed & slice_bytes_range(0, result->source[source].length);
}

uint64_t slice_bytes_made(const struct insn_result *result, unsigned source, uint64_t held)
{
	uint64_t made = 0;

	for (unsigned i = 0; i < result->to.length && i < 64; i++)
		if (bytes_of(result, source, i) & held)
			made |= 1ull << i;
	return made;
}
