/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sources hold, and what operations make of words bit by bit. The rules are Memcheck's: a
 * sum's bit depends on the bits of its place and those below it that a carry can come from; a bit
 * that is 0 makes AND's result known, one that is 1 OR's.
 */
#include "insn/shadow_source.h"

#include <string.h>

#define WORD SHADOW_WORD

/* The lowest bit and all above it. */
static uint64_t upwards(uint64_t bits)
{
	return bits | (0 - bits);
}

uint64_t shadow_word_of(const struct shade *shade)
{
	uint64_t word = 0;

	memcpy(&word, shade->byte, shade->length < WORD ? shade->length : WORD);
	return word;
}

void shadow_set_word(struct shade *shade, uint64_t word)
{
	word = shadow_cut(word, shade->length);
	memset(shade->byte, 0, sizeof(shade->byte));
	memcpy(shade->byte, &word, sizeof(word));
	shade->any = word;
}

bool shadow_has_any(const struct shade *shade)
{
	for (unsigned i = 0; i < shade->length; i++)
		if (shade->byte[i])
			return true;
	return false;
}

/* x ^ ((x ^ y) & mask), by which compilers put a bit-field together, has nothing of x under the
 * mask. What arithmetic has mixed does not cancel so; whether it has is kept of general registers
 * alone. */
bool shadow_is_crossed(const struct insn_result *result, const struct source *source)
{
	if (result->operation != INSN_XOR || result->source_count < 2 || source[0].shade.mixed ||
	    source[1].shade.mixed)
		return false;
	for (unsigned i = 0; i < SHADOW_LINE; i++)
		if (source[0].shade.byte[i] & source[1].shade.byte[i])
			return true;
	return false;
}

/* ------------------------------------------------------------------------------------------- */
/* Places */

unsigned shadow_bounded(const struct insn_place *place)
{
	unsigned length = place->length ? place->length : 1;

	if (place->first >= SHADOW_LINE)
		return 0;
	return place->first + length > SHADOW_LINE ? SHADOW_LINE - place->first : length;
}

/* Which condition it is follows from the flags that it takes. */
static bool is_settled(const struct shadow *shadow, unsigned flags)
{
	switch (flags) {
	case INSN_FLAG_CARRY | INSN_FLAG_ZERO:
		return shadow->settled & SHADOW_BELOW_EQUAL;
	case INSN_FLAG_SIGN | INSN_FLAG_OVERFLOW:
		return shadow->settled & SHADOW_LESS;
	case INSN_FLAG_SIGN | INSN_FLAG_OVERFLOW | INSN_FLAG_ZERO:
		return shadow->settled & SHADOW_LESS_EQUAL;
	default:
		return false;
	}
}

void shadow_shade_of(const struct shadow *shadow, const struct insn_place *place,
		     const struct shadow_operands *operands, struct shade *shade)
{
	uint64_t word;

	memset(shade, 0, sizeof(*shade));
	shade->length = shadow_bounded(place);
	switch (place->kind) {
	case INSN_PLACE_GENERAL:
		word = shadow->general[place->number & 15] >> 8 * place->first << place->shift;
		shadow_set_word(shade, word);
		shade->vague = shadow->vague_general >> (place->number & 15) & 1;
		shade->mixed = shadow->mixed_general >> (place->number & 15) & 1;
		break;
	case INSN_PLACE_VECTOR:
		memcpy(shade->byte, shadow->vector[place->number % SHADOW_VECTORS] + place->first,
		       shade->length);
		shade->vague = shadow->vague_vectors >> (place->number % SHADOW_VECTORS) & 1;
		break;
	case INSN_PLACE_MASK:
		shadow_set_word(shade, shadow->mask[place->number & 7]);
		shade->vague = true; /* what makes a mask is not followed element by element */
		break;
	case INSN_PLACE_FLAGS:
		if (!is_settled(shadow, place->number))
			shadow_set_word(shade, shadow->flags & place->number);
		shade->vague = shadow->vague_flags;
		break;
	case INSN_PLACE_MEMORY:
		if (place->number < INSN_MAX_OPERANDS && operands->known[place->number])
			shadow_read(shadow, operands->address[place->number], shade->byte,
				    shade->length);
		shade->vague = shadow->vague_memory;
		break;
	default:
		break;
	}
	shade->any = shadow_has_any(shade);
	shade->vague = shade->vague && shade->any;
}

bool shadow_of_place(const struct shadow *shadow, const struct insn_place *place,
		     const struct shadow_operands *operands, bool *vague)
{
	struct shade shade;

	shadow_shade_of(shadow, place, operands, &shade);
	*vague = shade.vague;
	return shade.any;
}

static bool value_of(const struct applying *applying, const struct insn_place *place,
		     uint64_t constant, uint64_t *bits)
{
	struct value value = value_unknown;

	if (place->kind == INSN_PLACE_CONSTANT) {
		value = value_known(constant);
	} else if (place->kind == INSN_PLACE_GENERAL) {
		value.known = applying->forward->known >> (place->number & 15) & 1;
		value.bits = applying->forward->general[place->number & 15] >> 8 * place->first;
	} else if (place->kind == INSN_PLACE_FLAGS && place->number == INSN_FLAG_CARRY) {
		*bits = applying->forward->carry;
		return applying->forward->flags_known;
	} else if (place->kind == INSN_PLACE_MEMORY && place->number < INSN_MAX_OPERANDS &&
		   applying->operands->known[place->number]) {
		value = forward_read_memory(applying->forward,
					    applying->operands->address[place->number],
					    place->length);
	}
	*bits = shadow_cut(value.bits, place->length < WORD ? place->length : WORD) << place->shift;
	return value.known;
}

void shadow_gather(const struct applying *applying, const struct insn_result *result,
		   struct source source[INSN_EFFECT_SOURCES])
{
	for (unsigned i = 0; i < result->source_count; i++) {
		shadow_shade_of(applying->shadow, &result->source[i], applying->operands,
				&source[i].shade);
		source[i].known =
			value_of(applying, &result->source[i], result->constant, &source[i].bits);
		source[i].shadow = shadow_word_of(&source[i].shade);
	}
}

bool shadow_takes_part(const struct insn_result *result, const struct source *source)
{
	for (unsigned i = 0; i < result->source_count; i++)
		if (source[i].shade.any && source[i].shade.length > WORD)
			return true;
	return false;
}

/* ------------------------------------------------------------------------------------------- */
/* Operations */

static uint64_t and_words(const struct source *a, const struct source *b, bool invert)
{
	uint64_t may_a = a->known ? (invert ? ~a->bits : a->bits) : ~0ull;
	uint64_t may_b = b->known ? b->bits : ~0ull;

	return (a->shadow & b->shadow) | (a->shadow & may_b) | (may_a & b->shadow);
}

static uint64_t or_words(const struct source *a, const struct source *b)
{
	uint64_t may_a = a->known ? ~a->bits : ~0ull, may_b = b->known ? ~b->bits : ~0ull;

	return (a->shadow & b->shadow) | (a->shadow & may_b) | (may_a & b->shadow);
}

static uint64_t shift_word(enum insn_operation operation, const struct source *a, unsigned count,
			   unsigned length)
{
	unsigned width = length * 8;
	uint64_t shadow = shadow_cut(a->shadow, length);

	count &= width == 64 ? 63 : 31;
	if (operation == INSN_ROTATE_LEFT || operation == INSN_ROTATE_RIGHT) {
		count %= width;
		if (operation == INSN_ROTATE_RIGHT)
			count = (width - count) % width;
		return count ? shadow << count | shadow >> (width - count) : shadow;
	}
	if (count >= width)
		return operation == INSN_SHIFT_RIGHT_SIGN && shadow >> (width - 1) ? ~0ull : 0;
	if (operation == INSN_SHIFT_LEFT)
		return shadow << count;
	if (operation == INSN_SHIFT_RIGHT)
		return shadow >> count;
	return (uint64_t)((int64_t)value_extend(shadow, width) >> count);
}

static uint64_t reversed(uint64_t word, unsigned length)
{
	return __builtin_bswap64(word) >> 8 * (WORD - length);
}

bool shadow_is_same(const struct insn_place *a, const struct insn_place *b)
{
	return a->kind == INSN_PLACE_GENERAL && b->kind == a->kind && a->number == b->number &&
	       a->first == b->first && a->length == b->length && a->shift == b->shift;
}

bool shadow_is_doubled(const struct insn_result *result)
{
	return result->operation == INSN_ADD && result->source_count == 2 &&
	       shadow_is_same(&result->source[0], &result->source[1]);
}

/*
 * A carry into a bit is the greater, the greater the operands are: where the sum of the least that
 * they may be has the same bit as the sum of the greatest, no bit that is not known reaches it.
 */
static uint64_t add_words(const struct source *a, const struct source *b, bool subtracts)
{
	uint64_t either = a->shadow | b->shadow, least_a = a->bits & ~a->shadow,
		 most_a = a->bits | a->shadow, least_b = b->bits & ~b->shadow,
		 most_b = b->bits | b->shadow;

	if (!a->known || !b->known)
		return upwards(either);
	if (subtracts)
		return ((least_a - most_b) ^ (most_a - least_b)) | either;
	return ((least_a + least_b) ^ (most_a + most_b)) | either;
}

/* Each bit meets itself, and is the carry into the next place. */
static struct source twice(const struct source *source)
{
	struct source sum = *source;

	sum.shadow <<= 1;
	sum.bits <<= 1;
	return sum;
}

/* One after the other: an address of three parts, a sum with the carry. */
static uint64_t add_all(const struct insn_result *result, const struct source *source)
{
	static const struct source zero = {.known = true};
	bool subtracts = result->operation == INSN_SUBTRACT, same;
	struct source sum = source[0];

	if (result->source_count == 1)
		return add_words(&zero, &source[0], subtracts);
	same = shadow_is_same(&result->source[0], &result->source[1]);
	/* sbb of a register with itself makes 0 or -1 of the carry. */
	if (same)
		sum = subtracts ? zero : twice(&source[0]);
	for (unsigned i = same ? 2 : 1; i < result->source_count; i++) {
		sum.shadow = add_words(&sum, &source[i], subtracts);
		sum.bits = subtracts ? sum.bits - source[i].bits : sum.bits + source[i].bits;
		sum.known = sum.known && source[i].known;
	}
	return sum.shadow;
}

/* Which bit is the first that is 1, from below or from above: known where no bit that is not comes
 * before one that is 1 for certain. */
static uint64_t find_bit(const struct source *a, bool from_below)
{
	uint64_t certain = a->known ? a->bits & ~a->shadow : 0;

	if (!a->shadow)
		return 0;
	if (certain && from_below && !(a->shadow & ((certain & (0 - certain)) - 1)))
		return 0;
	if (certain && !from_below && __builtin_clzll(certain) < __builtin_clzll(a->shadow))
		return 0;
	return 0x7f;
}

static uint64_t low_bits(const struct source *a, const struct source *count, unsigned length)
{
	unsigned bits = (unsigned)count->bits & 0xff;

	if (count->shadow || !count->known)
		return a->shadow | count->shadow ? ~0ull : 0;
	return bits < length * 8 ? value_cut(a->shadow, bits) : a->shadow;
}

static uint64_t make_bit(const struct source *a, const struct source *number, unsigned length)
{
	if (number->shadow)
		return ~0ull;
	return number->known ? a->shadow & ~(1ull << (number->bits & (length * 8 - 1))) : a->shadow;
}

/* Of the low 8 bytes, for operations that know of no more. */
bool shadow_of_word(const struct insn_result *result, const struct source *source, unsigned length,
		    uint64_t *word)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < result->source_count; i++)
		all |= source[i].shadow;
	switch (result->operation) {
	case INSN_COPY_SIGN:
		*word = value_extend(source[0].shadow, source[0].shade.length * 8);
		return true;
	case INSN_COPY_REVERSED:
		*word = reversed(source[0].shadow, length);
		return true;
	case INSN_AND:
	case INSN_AND_NOT:
		*word = and_words(&source[0], &source[1], result->operation == INSN_AND_NOT);
		return true;
	case INSN_OR:
		*word = or_words(&source[0], &source[1]);
		return true;
	case INSN_XOR:
		*word = all;
		return true;
	case INSN_ADD:
	case INSN_SUBTRACT:
		*word = add_all(result, source);
		return true;
	case INSN_MULTIPLY:
		*word = upwards(all);
		return true;
	case INSN_LOWEST_BIT:
	case INSN_HIGHEST_BIT:
		*word = find_bit(&source[0], result->operation == INSN_LOWEST_BIT);
		return true;
	case INSN_LOW_BITS:
		*word = low_bits(&source[0], &source[1], length);
		return true;
	case INSN_BIT:
		*word = source[1].shadow ? ~0ull : source[0].shadow;
		return true;
	case INSN_BIT_MADE:
		*word = make_bit(&source[0], &source[1], length);
		return true;
	case INSN_SHIFT_LEFT:
	case INSN_SHIFT_RIGHT:
	case INSN_SHIFT_RIGHT_SIGN:
	case INSN_ROTATE_LEFT:
	case INSN_ROTATE_RIGHT:
		if (source[1].shadow || !source[1].known)
			*word = all ? ~0ull : 0;
		else
			*word = shift_word(result->operation, &source[0], (unsigned)source[1].bits,
					   length);
		return true;
	default:
		return false;
	}
}
