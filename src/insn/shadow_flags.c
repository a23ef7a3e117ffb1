/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flag is known where the bits that are known settle it: a result that has a bit which is 1 for
 * certain is not zero, of two numbers one is the less whatever the bits in question are. Where that
 * would take the value of bits that were written but are not known here, the dependence is vague.
 */
#include "insn/shadow_source.h"

#define WORD SHADOW_WORD

/* Shifts, and numbers of bits, are of the first source alone. */
static bool is_of_first(const struct insn_result *result)
{
	return (result->operation >= INSN_SHIFT_LEFT && result->operation <= INSN_ROTATE_RIGHT) ||
	       (result->operation >= INSN_LOWEST_BIT && result->operation <= INSN_BIT_MADE);
}

static unsigned length_of_sources(const struct insn_result *result)
{
	unsigned length = WORD, count = is_of_first(result) ? 1 : result->source_count;

	for (unsigned i = 0; i < count; i++)
		if (result->source[i].kind != INSN_PLACE_CONSTANT && result->source[i].length &&
		    result->source[i].length < length)
			length = result->source[i].length;
	return length;
}

static bool are_known(const struct insn_result *result, const struct source *source)
{
	for (unsigned i = 0; i < result->source_count; i++)
		if (!source[i].known)
			return false;
	return true;
}

/* What the thread gets, with the bits in question as they are. False: not known. */
static bool value_of_result(const struct insn_result *result, const struct source *source,
			    unsigned length, uint64_t *bits)
{
	unsigned count = (unsigned)source[1].bits & (length == WORD ? 63 : 31);
	bool one = result->source_count == 1;

	switch (result->operation) {
	case INSN_AND:
		*bits = source[0].bits & source[1].bits;
		break;
	case INSN_AND_NOT:
		*bits = ~source[0].bits & source[1].bits;
		break;
	case INSN_OR:
		*bits = source[0].bits | source[1].bits;
		break;
	case INSN_XOR:
		*bits = source[0].bits ^ source[1].bits;
		break;
	case INSN_ADD:
		*bits = source[0].bits + source[1].bits + source[2].bits;
		break;
	case INSN_SUBTRACT:
		*bits = one ? 0 - source[0].bits : source[0].bits - source[1].bits - source[2].bits;
		break;
	case INSN_SHIFT_LEFT:
		*bits = source[0].bits << count;
		break;
	case INSN_SHIFT_RIGHT:
		*bits = shadow_cut(source[0].bits, length) >> count;
		break;
	case INSN_SHIFT_RIGHT_SIGN:
		*bits = (uint64_t)((int64_t)value_extend(source[0].bits, length * 8) >> count);
		break;
	default:
		return false;
	}
	return are_known(result, source);
}

/* ------------------------------------------------------------------------------------------- */
/* Sums and differences: the least and the greatest that an operand may be */

struct range {
	__int128 least, most;
};

static struct range range_of(const struct source *source, unsigned length, bool is_signed)
{
	uint64_t sign = is_signed ? 1ull << (length * 8 - 1) : 0;
	uint64_t bits = shadow_cut(source->bits, length),
		 shadow = shadow_cut(source->shadow, length);
	uint64_t least = (bits & ~shadow) | (shadow & sign),
		 most = (bits | shadow) & ~(shadow & sign);

	if (!is_signed)
		return (struct range){least, most};
	return (struct range){(int64_t)value_extend(least, length * 8),
			      (int64_t)value_extend(most, length * 8)};
}

/* Do all that it may be lie on one side of the bound? */
static bool is_beside(struct range range, __int128 bound)
{
	return range.most < bound || range.least >= bound;
}

/* Is it settled which of the two is the less, or whether they are equal at most? */
static bool is_less_settled(struct range a, struct range b)
{
	return a.most < b.least || a.least >= b.most;
}

static bool is_less_equal_settled(struct range a, struct range b)
{
	return a.most <= b.least || a.least > b.most;
}

static uint8_t settled_conditions(const struct source *source, unsigned length)
{
	struct range a = range_of(&source[0], length, false),
		     b = range_of(&source[1], length, false),
		     a_number = range_of(&source[0], length, true),
		     b_number = range_of(&source[1], length, true);

	return (is_less_equal_settled(a, b) ? SHADOW_BELOW_EQUAL : 0) |
	       (is_less_settled(a_number, b_number) ? SHADOW_LESS : 0) |
	       (is_less_equal_settled(a_number, b_number) ? SHADOW_LESS_EQUAL : 0);
}

static unsigned settled_by_ranges(const struct insn_result *result, const struct source *source,
				  unsigned length)
{
	bool subtracts = result->operation == INSN_SUBTRACT;
	__int128 carry = subtracts ? 0 : (__int128)1 << length * 8;
	__int128 half = (__int128)1 << (length * 8 - 1);
	struct range a = range_of(&source[0], length, false),
		     b = range_of(&source[1], length, false),
		     a_number = range_of(&source[0], length, true),
		     b_number = range_of(&source[1], length, true), whole, number;
	unsigned settled = 0;

	whole = subtracts ? (struct range){a.least - b.most, a.most - b.least}
			  : (struct range){a.least + b.least, a.most + b.most};
	number = subtracts ? (struct range){a_number.least - b_number.most,
					    a_number.most - b_number.least}
			   : (struct range){a_number.least + b_number.least,
					    a_number.most + b_number.most};
	if (is_beside(whole, carry))
		settled |= INSN_FLAG_CARRY;
	if (is_beside(number, half) && is_beside(number, -half))
		settled |= INSN_FLAG_OVERFLOW;
	return settled;
}

/* ------------------------------------------------------------------------------------------- */

/* The last bit that was shifted out. */
static bool shifts_out(const struct insn_result *result, const struct source *source,
		       unsigned length)
{
	unsigned count = (unsigned)source[1].bits & (length == WORD ? 63 : 31);

	if (source[1].shadow || !source[1].known)
		return source[0].shadow || source[1].shadow;
	if (!count || count > length * 8)
		return source[0].shadow;
	return source[0].shadow >>
		       (result->operation == INSN_SHIFT_LEFT ? length * 8 - count : count - 1) &
	       1;
}

static unsigned carry_and_overflow(const struct insn_result *result, const struct source *source,
				   unsigned length)
{
	unsigned both = INSN_FLAG_CARRY | INSN_FLAG_OVERFLOW;

	switch (result->operation) {
	case INSN_AND:
	case INSN_AND_NOT:
	case INSN_OR:
	case INSN_XOR:
		return 0;
	case INSN_SHIFT_LEFT:
	case INSN_SHIFT_RIGHT:
	case INSN_SHIFT_RIGHT_SIGN:
		return shifts_out(result, source, length) ? both : 0;
	case INSN_ADD:
		/* A shift by one place. */
		if (shadow_is_doubled(result))
			return shadow_cut(source[0].shadow, length) >> (length * 8 - 2) ? both : 0;
		return both;
	default:
		return both;
	}
}

/*
 * A difference is zero where its operands are equal: bits that are known and differ settle that,
 * although a borrow from below them may reach the bits of the difference.
 */
static bool is_never_zero(const struct insn_result *result, const struct source *source,
			  unsigned length)
{
	uint64_t either = source[0].shadow | source[1].shadow, other = source[1].bits;

	if ((result->operation != INSN_ADD && result->operation != INSN_SUBTRACT) ||
	    result->source_count != 2 || !are_known(result, source) ||
	    (result->operation == INSN_ADD && source[1].shadow))
		return false;
	if (result->operation == INSN_ADD)
		other = 0 - other;
	return shadow_cut((source[0].bits ^ other) & ~either, length);
}

static unsigned of_result(const struct insn_result *result, const struct source *source,
			  bool *vague, uint8_t *settled)
{
	unsigned length = length_of_sources(result), flags;
	uint64_t word = 0, bits = 0;
	bool known = value_of_result(result, source, length, &bits);

	shadow_of_word(result, source, length, &word);
	word = shadow_cut(word, length);
	flags = carry_and_overflow(result, source, length);
	if (word && !(known && shadow_cut(bits, length) & ~word) &&
	    !is_never_zero(result, source, length))
		flags |= INSN_FLAG_ZERO;
	if (word >> (length * 8 - 1))
		flags |= INSN_FLAG_SIGN;
	if (word & 0xff)
		flags |= INSN_FLAG_PARITY;
	if ((result->operation == INSN_ADD || result->operation == INSN_SUBTRACT) &&
	    result->source_count == 2 && source[0].known && source[1].known) {
		flags &= ~settled_by_ranges(result, source, length);
		if (result->operation == INSN_SUBTRACT)
			*settled = settled_conditions(source, length);
	}
	*vague |= !known && word && shadow_cut(~word, length);
	return flags;
}

/* bsf and their like: whether there is any bit at all. */
static unsigned of_search(const struct source *source, unsigned length, bool *vague)
{
	uint64_t shadow = shadow_cut(source->shadow, length);

	if (!shadow || (source->known && shadow_cut(source->bits, length) & ~shadow))
		return 0;
	*vague |= !source->known && shadow_cut(~shadow, length);
	return INSN_FLAGS_ALL;
}

static unsigned of_bit(const struct source *source, unsigned length)
{
	unsigned bit = (unsigned)source[1].bits & (length * 8 - 1);

	if (source[1].shadow || !source[1].known)
		return INSN_FLAGS_ALL;
	return source[0].shadow >> bit & 1 ? INSN_FLAG_CARRY : 0;
}

unsigned shadow_of_flags(const struct applying *applying, const struct insn_result *result,
			 bool *vague, uint8_t *settled)
{
	struct source source[INSN_EFFECT_SOURCES] = {0};
	bool any = false;

	*settled = 0;
	shadow_gather(applying, result, source);
	for (unsigned i = 0; i < result->source_count; i++) {
		any |= source[i].shade.any;
		*vague |= source[i].shade.vague;
	}
	*vague |= shadow_is_crossed(result, source);
	/* sbb of a register with itself */
	if (result->operation == INSN_SUBTRACT && result->source_count == 3 &&
	    shadow_is_same(&result->source[0], &result->source[1]))
		any = source[2].shade.any;
	if (!any)
		return 0;
	switch (result->operation) {
	case INSN_CONSTANT:
		return 0;
	case INSN_AND:
	case INSN_AND_NOT:
	case INSN_OR:
	case INSN_XOR:
	case INSN_ADD:
	case INSN_SUBTRACT:
	case INSN_SHIFT_LEFT:
	case INSN_SHIFT_RIGHT:
	case INSN_SHIFT_RIGHT_SIGN:
		return of_result(result, source, vague, settled);
	case INSN_LOWEST_BIT:
	case INSN_HIGHEST_BIT:
		return of_search(source, length_of_sources(result), vague);
	case INSN_BIT:
	case INSN_BIT_MADE:
		return of_bit(source, length_of_sources(result));
	default:
		*vague |= shadow_takes_part(result, source);
		return INSN_FLAGS_ALL;
	}
}
