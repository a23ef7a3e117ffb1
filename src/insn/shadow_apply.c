/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules for each operation are Memcheck's: a sum's bit depends on the bits of its place and all
 * below it; a bit that is 0 makes AND's result known, one that is 1 OR's; a comparison is known
 * where bits that are known differ above those that are not. All results of an instruction are made
 * before one is stored.
 */
#include "insn/values.h"
#include "insn/shadow.h"

#include <string.h>

#define WORD 8u

/* A source or a result. */
struct shade {
	uint8_t byte[SHADOW_LINE];
	unsigned length; /* bytes */
	bool vague;
	bool any;
};

struct source {
	struct shade shade;
	uint64_t bits;	 /* of its first 8 bytes … */
	uint64_t shadow; /* … and their shadow */
	bool known;	 /* `bits` is, where the shadow is 0 */
};

struct applying {
	struct shadow *shadow;
	const struct shadow_operands *operands;
	const struct insn_forward *forward;
};

static uint64_t cut(uint64_t bits, unsigned length)
{
	return value_cut(bits, length * 8);
}

/* The lowest bit and all above it. */
static uint64_t upwards(uint64_t bits)
{
	return bits | (0 - bits);
}

static uint64_t word_of(const struct shade *shade)
{
	uint64_t word = 0;

	memcpy(&word, shade->byte, shade->length < WORD ? shade->length : WORD);
	return word;
}

static void set_word(struct shade *shade, uint64_t word)
{
	word = cut(word, shade->length);
	memset(shade->byte, 0, sizeof(shade->byte));
	memcpy(shade->byte, &word, sizeof(word));
	shade->any = word;
}

static bool has_any(const struct shade *shade)
{
	for (unsigned i = 0; i < shade->length; i++)
		if (shade->byte[i])
			return true;
	return false;
}

/* ------------------------------------------------------------------------------------------- */
/* Places */

static unsigned bounded(const struct insn_place *place)
{
	unsigned length = place->length ? place->length : 1;

	if (place->first >= SHADOW_LINE)
		return 0;
	return place->first + length > SHADOW_LINE ? SHADOW_LINE - place->first : length;
}

static void shade_of(const struct shadow *shadow, const struct insn_place *place,
		     const struct shadow_operands *operands, struct shade *shade)
{
	uint64_t word;

	memset(shade, 0, sizeof(*shade));
	shade->length = bounded(place);
	switch (place->kind) {
	case INSN_PLACE_GENERAL:
		word = shadow->general[place->number & 15] >> 8 * place->first << place->shift;
		set_word(shade, word);
		shade->vague = shadow->vague_general >> (place->number & 15) & 1;
		break;
	case INSN_PLACE_VECTOR:
		memcpy(shade->byte, shadow->vector[place->number % SHADOW_VECTORS] + place->first,
		       shade->length);
		shade->vague = shadow->vague_vectors >> (place->number % SHADOW_VECTORS) & 1;
		break;
	case INSN_PLACE_MASK:
		set_word(shade, shadow->mask[place->number & 7]);
		break;
	case INSN_PLACE_FLAGS:
		set_word(shade, shadow->flags & place->number);
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
	shade->any = has_any(shade);
	shade->vague = shade->vague && shade->any;
}

bool shadow_of_place(const struct shadow *shadow, const struct insn_place *place,
		     const struct shadow_operands *operands, bool *vague)
{
	struct shade shade;

	shade_of(shadow, place, operands, &shade);
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
	} else if (place->kind == INSN_PLACE_MEMORY && place->number < INSN_MAX_OPERANDS &&
		   applying->operands->known[place->number]) {
		value = forward_read_memory(applying->forward,
					    applying->operands->address[place->number],
					    place->length);
	}
	*bits = cut(value.bits, place->length < WORD ? place->length : WORD) << place->shift;
	return value.known;
}

static void gather(const struct applying *applying, const struct insn_result *result,
		   struct source source[INSN_EFFECT_SOURCES])
{
	for (unsigned i = 0; i < result->source_count; i++) {
		shade_of(applying->shadow, &result->source[i], applying->operands,
			 &source[i].shade);
		source[i].known =
			value_of(applying, &result->source[i], result->constant, &source[i].bits);
		source[i].shadow = word_of(&source[i].shade);
	}
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
	uint64_t shadow = cut(a->shadow, length);

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

/* Of the low 8 bytes, for operations that know of no more. */
static bool operate_word(const struct insn_result *result, const struct source *source,
			 unsigned length, uint64_t *word)
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
	case INSN_MULTIPLY:
		*word = upwards(all);
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

static void fill(struct shade *to, unsigned first, unsigned length)
{
	for (unsigned i = first; i < first + length && i < to->length; i++)
		to->byte[i] = 0xff;
}

static void by_element(const struct insn_result *result, const struct source *source,
		       struct shade *to)
{
	unsigned element = result->element ? result->element : 1;

	for (unsigned at = 0; at < to->length; at += element)
		for (unsigned i = 0; i < result->source_count; i++)
			for (unsigned j = at; j < at + element && j < SHADOW_LINE; j++)
				if (source[i].shade.byte[j]) {
					fill(to, at, element);
					break;
				}
}

static void shuffle(const struct insn_result *result, const struct source *source, struct shade *to)
{
	for (unsigned i = 0; i < to->length; i++) {
		unsigned from = result->lane[i % 16];

		if (from != INSN_LANE_ZERO)
			to->byte[i] = source[from / 16 & 1].shade.byte[i / 16 * 16 + from % 16];
	}
}

static void top_bits(const struct insn_result *result, const struct source *source,
		     struct shade *to)
{
	unsigned element = result->element ? result->element : 1;
	uint64_t word = 0;

	for (unsigned i = 0; (i + 1) * element <= source->shade.length && i < 64; i++)
		word |= (uint64_t)(source->shade.byte[(i + 1) * element - 1] >> 7) << i;
	set_word(to, word);
}

/* Vectors bit by bit: nothing is known of their values. */
static void merge(const struct insn_result *result, const struct source *source, struct shade *to)
{
	for (unsigned i = 0; i < result->source_count; i++)
		for (unsigned j = 0; j < to->length; j++)
			to->byte[j] |= source[i].shade.byte[j];
}

static void select_one(const struct applying *applying, const struct insn_result *result,
		       const struct source *source, struct shade *to)
{
	int holds = insn_forward_holds(applying->forward, result->condition);

	if (source[2].shade.any) {
		fill(to, 0, to->length);
		/* Either way it is the same. */
		if (source[0].known && source[1].known && !source[0].shade.any &&
		    !source[1].shade.any && source[0].bits == source[1].bits)
			memset(to->byte, 0, sizeof(to->byte));
		return;
	}
	if (holds >= 0) {
		memcpy(to->byte, source[holds].shade.byte, sizeof(to->byte));
		return;
	}
	merge(result, source, to);
	to->vague = true;
}

/* A vector's may be a shuffle. */
static void assume(const struct insn_result *result, struct shade *to)
{
	fill(to, 0, to->length);
	to->vague |= result->to.kind == INSN_PLACE_VECTOR;
}

static void operate(const struct applying *applying, const struct insn_result *result,
		    struct shade *to)
{
	struct source source[INSN_EFFECT_SOURCES] = {0};
	bool any = false, vague = false;
	uint64_t word;

	memset(to, 0, sizeof(*to));
	to->length = bounded(&result->to);
	gather(applying, result, source);
	for (unsigned i = 0; i < result->source_count; i++) {
		any |= source[i].shade.any;
		vague |= source[i].shade.vague;
	}
	if (!any || result->operation == INSN_CONSTANT)
		return;
	to->vague = vague;
	if (to->length <= WORD && operate_word(result, source, to->length, &word))
		set_word(to, word);
	else if (result->operation == INSN_COPY)
		memcpy(to->byte, source[0].shade.byte, to->length);
	else if (result->operation == INSN_AND || result->operation == INSN_AND_NOT ||
		 result->operation == INSN_OR || result->operation == INSN_XOR)
		merge(result, source, to);
	else if (result->operation == INSN_ELEMENTS)
		by_element(result, source, to);
	else if (result->operation == INSN_SHUFFLE)
		shuffle(result, source, to);
	else if (result->operation == INSN_TOP_BITS)
		top_bits(result, source, to);
	else if (result->operation == INSN_SELECT)
		select_one(applying, result, source, to);
	else if (result->source_count == 1 && result->source[0].kind == INSN_PLACE_FLAGS)
		set_word(to, 1); /* setcc */
	else
		assume(result, to);
	to->any = has_any(to);
}

/* ------------------------------------------------------------------------------------------- */
/* Flags */

/* Which flags of a comparison do not depend on the bits that have a shadow. */
static unsigned compared(const struct source *a, const struct source *b, unsigned length)
{
	uint64_t shadow = cut(a->shadow | b->shadow, length);
	uint64_t differ = cut(a->bits ^ b->bits, length) & ~shadow;
	unsigned settled = 0;

	if (!a->known || !b->known || !differ)
		return 0;
	settled |= INSN_FLAG_ZERO;
	/* The highest bit that differs decides which is greater. */
	if (63 - __builtin_clzll(differ) > 63 - __builtin_clzll(shadow))
		settled |= INSN_FLAG_CARRY | INSN_FLAG_SIGN | INSN_FLAG_OVERFLOW;
	return settled;
}

/* A bit that is 1 for certain makes the result one that is not zero. */
static uint64_t certain_ones(const struct insn_result *result, const struct source *source)
{
	uint64_t ones;

	if (result->operation == INSN_OR)
		return (source[0].known ? source[0].bits & ~source[0].shadow : 0) |
		       (source[1].known ? source[1].bits & ~source[1].shadow : 0);
	if (result->operation != INSN_AND || !source[0].known || !source[1].known)
		return 0;
	ones = source[0].bits & source[1].bits;
	return ones & ~source[0].shadow & ~source[1].shadow;
}

static unsigned length_of_sources(const struct insn_result *result)
{
	unsigned length = WORD;

	for (unsigned i = 0; i < result->source_count; i++)
		if (result->source[i].kind != INSN_PLACE_CONSTANT && result->source[i].length &&
		    result->source[i].length < length)
			length = result->source[i].length;
	return length;
}

static unsigned flags_of_logic(const struct insn_result *result, const struct source *source,
			       unsigned length)
{
	uint64_t word = 0;
	unsigned flags = 0;

	operate_word(result, source, length, &word);
	word = cut(word, length);
	if (word && !cut(certain_ones(result, source), length))
		flags |= INSN_FLAG_ZERO;
	if (word >> (length * 8 - 1))
		flags |= INSN_FLAG_SIGN;
	if (word & 0xff)
		flags |= INSN_FLAG_PARITY;
	return flags;
}

static unsigned flags_of(const struct applying *applying, const struct insn_result *result,
			 bool *vague)
{
	struct source source[INSN_EFFECT_SOURCES] = {0};
	unsigned length = length_of_sources(result);
	bool any = false;

	gather(applying, result, source);
	for (unsigned i = 0; i < result->source_count; i++) {
		any |= source[i].shade.any;
		*vague |= source[i].shade.vague;
	}
	if (!any)
		return 0;
	switch (result->operation) {
	case INSN_CONSTANT:
		return 0;
	case INSN_AND:
	case INSN_AND_NOT:
	case INSN_OR:
	case INSN_XOR:
		return flags_of_logic(result, source, length);
	case INSN_SUBTRACT:
		return INSN_FLAGS_ALL &
		       ~(result->source_count == 2 ? compared(&source[0], &source[1], length) : 0);
	default:
		return INSN_FLAGS_ALL;
	}
}

/* ------------------------------------------------------------------------------------------- */
/* Storing results */

static void store_general(struct shadow *shadow, const struct insn_result *result,
			  const struct shade *from)
{
	uint64_t *to = &shadow->general[result->to.number & 15];
	unsigned first = result->to.first * 8u;
	uint64_t mask = value_cut(~0ull, result->to.length * 8u) << first;

	if (result->clears)
		*to = 0;
	*to = (*to & ~mask) | (word_of(from) << first & mask);
	if (from->vague && from->any)
		shadow->vague_general |= (uint16_t)(1u << (result->to.number & 15));
	else if (!*to || result->to.length >= 4)
		shadow->vague_general &= (uint16_t) ~(1u << (result->to.number & 15));
}

static void store_vector(struct shadow *shadow, const struct insn_result *result,
			 const struct shade *from)
{
	unsigned number = result->to.number % SHADOW_VECTORS;
	uint8_t *to = shadow->vector[number];
	bool any = false;

	if (!from->any && !(shadow->vectors >> number & 1))
		return;
	if (result->clears)
		memset(to, 0, SHADOW_LINE);
	memcpy(to + result->to.first, from->byte, from->length);
	for (unsigned i = 0; i < SHADOW_LINE; i++)
		any |= to[i];
	shadow->vectors = (shadow->vectors & ~(1u << number)) | (uint32_t)any << number;
	if (from->vague && from->any)
		shadow->vague_vectors |= 1u << number;
	else if (!any || result->clears)
		shadow->vague_vectors &= ~(1u << number);
}

static void store(struct applying *applying, const struct insn_result *result,
		  const struct shade *from)
{
	struct shadow *shadow = applying->shadow;
	unsigned number = result->to.number;

	switch (result->to.kind) {
	case INSN_PLACE_GENERAL:
		store_general(shadow, result, from);
		break;
	case INSN_PLACE_VECTOR:
		store_vector(shadow, result, from);
		break;
	case INSN_PLACE_MASK:
		shadow->mask[number & 7] = word_of(from);
		break;
	case INSN_PLACE_MEMORY:
		if (number < INSN_MAX_OPERANDS && applying->operands->known[number])
			shadow_write(shadow, applying->operands->address[number], from->byte,
				     from->length);
		else
			shadow->lost |= from->any;
		shadow->vague_memory |= from->vague && from->any;
		break;
	case INSN_PLACE_FLAGS:
		shadow->flags = (uint8_t)((shadow->flags & ~number) | (word_of(from) & number));
		shadow->vague_flags = from->vague;
		break;
	default:
		break;
	}
}

void shadow_apply(struct shadow *shadow, const struct insn_effect *effect,
		  const struct shadow_operands *operands, const struct insn_forward *forward)
{
	struct applying applying = {shadow, operands, forward};
	struct shade made[INSN_EFFECT_RESULTS];

	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];

		if (result->to.kind == INSN_PLACE_FLAGS) {
			made[i] = (struct shade){.length = WORD};
			set_word(&made[i], flags_of(&applying, result, &made[i].vague));
		} else {
			operate(&applying, result, &made[i]);
		}
		/* What may not be written keeps what it has, too. */
		if (result->conditional && result->operation != INSN_SELECT) {
			struct shade before;

			shade_of(shadow, &result->to, operands, &before);
			for (unsigned j = 0; j < made[i].length; j++)
				made[i].byte[j] |= before.byte[j];
			made[i].any |= before.any;
		}
	}
	for (unsigned i = 0; i < effect->count; i++)
		store(&applying, &effect->result[i], &made[i]);
}
