/* SPDX-License-Identifier: Apache-2.0 */
/* The shadows of all results of an instruction are made before one is stored. */
#include "insn/shadow_source.h"

#include <string.h>

#define WORD SHADOW_WORD

static void fill(struct shade *to, unsigned first, unsigned length)
{
	for (unsigned i = first; i < first + length && i < to->length; i++)
		to->byte[i] = 0xff;
}

static bool has_any(const struct shade *shade, unsigned first, unsigned length)
{
	for (unsigned i = first; i < first + length && i < SHADOW_LINE; i++)
		if (shade->byte[i])
			return true;
	return false;
}

static uint64_t shift_bits(const struct insn_result *result, uint64_t bits)
{
	const unsigned width = result->element * 8u;
	const unsigned by = (unsigned)(result->shifted < 0 ? -result->shifted : result->shifted);

	if (result->shifts_sign)
		return (uint64_t)((int64_t)value_extend(bits, width) >>
				  (by < width ? by : width - 1));
	if (by >= width)
		return 0;
	return value_cut(result->shifted < 0 ? bits >> by : bits << by, width);
}

static void shift_elements(const struct insn_result *result, const struct source *source,
			   struct shade *to)
{
	for (unsigned at = 0; at + result->element <= to->length; at += result->element) {
		uint64_t bits = 0;

		memcpy(&bits, source[0].shade.byte + at, result->element);
		bits = shift_bits(result, bits);
		memcpy(to->byte + at, &bits, result->element);
	}
}

static void by_element(const struct insn_result *result, const struct source *source,
		       struct shade *to)
{
	const unsigned element = result->element ? result->element : 1;
	const unsigned taken = result->taken ? result->taken : element;
	const unsigned made = result->made ? result->made : element;

	if (result->shifted) {
		shift_elements(result, source, to);
		return;
	}
	for (unsigned at = 0; at < to->length; at += element)
		for (unsigned i = 0; i < result->source_count; i++)
			if (has_any(&source[i].shade, at, taken))
				fill(to, at, made);
}

static void shuffle(const struct insn_result *result, const struct source *source, struct shade *to)
{
	for (unsigned i = 0; i < to->length; i++) {
		unsigned from = result->lane[i % INSN_LANES];

		if (from != INSN_LANE_ZERO)
			to->byte[i] =
				source[from / INSN_LANES & 1]
					.shade
					.byte[i / INSN_LANES * INSN_LANES + from % INSN_LANES];
	}
}

static void convert(const struct insn_result *result, const struct source *source, struct shade *to)
{
	unsigned element = result->element ? result->element : 1;

	for (unsigned i = 0; i < to->length; i++) {
		unsigned lane = result->lane[i % INSN_LANES];
		unsigned from = i / INSN_LANES * INSN_LANES + lane % INSN_LANES / element * element;

		for (unsigned j = 0; j < element && lane != INSN_LANE_ZERO; j++)
			if (source[lane / INSN_LANES & 1].shade.byte[from + j])
				to->byte[i] = 0xff;
	}
}

static void top_bits(const struct insn_result *result, const struct source *source,
		     struct shade *to)
{
	unsigned element = result->element ? result->element : 1;
	uint64_t word = 0;

	for (unsigned i = 0; (i + 1) * element <= source->shade.length && i < 64; i++)
		word |= (uint64_t)(source->shade.byte[(i + 1) * element - 1] >> 7) << i;
	shadow_set_word(to, word);
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

	if (source[2].shade.any && source[0].known && source[1].known) {
		/* What is the same either way does not depend on which it is. */
		shadow_set_word(to, source[0].shadow | source[1].shadow |
					    (source[0].bits ^ source[1].bits));
		return;
	}
	if (source[2].shade.any) {
		fill(to, 0, to->length);
		return;
	}
	if (holds >= 0) {
		memcpy(to->byte, source[holds].shade.byte, sizeof(to->byte));
		return;
	}
	merge(result, source, to);
	to->vague = true;
}

/* A vector's may be a shuffle; one element's is none. */
static void assume(const struct insn_result *result, const struct source *source, struct shade *to)
{
	fill(to, 0, to->length);
	to->vague |= (result->to.kind == INSN_PLACE_VECTOR && to->length > WORD) ||
		     shadow_takes_part(result, source);
}

/* The number of the first bit that is 1 may be any: else it lies between two numbers, as bits
 * cannot tell, and to be compared with a length that is less than both decides nothing. */
static bool is_any_bit(const struct source *source, bool from_below)
{
	uint64_t may = source->bits | source->shadow;

	return source->known && (from_below ? may & 1 : may >> (source->shade.length * 8 - 1) & 1);
}

/* A mask that is not known may clear the bits in question. */
static bool is_in_doubt(const struct insn_result *result, const struct source *source)
{
	switch (result->operation) {
	case INSN_LOWEST_BIT:
		return !is_any_bit(&source[0], true);
	case INSN_HIGHEST_BIT:
		return !is_any_bit(&source[0], false);
	case INSN_AND:
	case INSN_AND_NOT:
	case INSN_OR:
		return (source[0].shade.any && !source[1].known) ||
		       (source[1].shade.any && !source[0].known);
	default:
		return false;
	}
}

static bool mixes(uint8_t operation)
{
	return operation == INSN_COMPUTE || operation == INSN_ADD || operation == INSN_SUBTRACT ||
	       operation == INSN_MULTIPLY;
}

static void operate(const struct applying *applying, const struct insn_result *result,
		    struct shade *to)
{
	struct source source[INSN_EFFECT_SOURCES] = {0};
	bool any = false, vague = false, mixed = false;
	uint64_t word;

	memset(to, 0, sizeof(*to));
	to->length = shadow_bounded(&result->to);
	shadow_gather(applying, result, source);
	for (unsigned i = 0; i < result->source_count; i++) {
		any |= source[i].shade.any;
		vague |= source[i].shade.vague;
		mixed |= source[i].shade.mixed;
	}
	if (!any || result->operation == INSN_CONSTANT)
		return;
	to->vague = vague || is_in_doubt(result, source) || shadow_is_crossed(result, source);
	to->mixed = mixed || mixes(result->operation);
	if (to->length <= WORD && shadow_of_word(result, source, to->length, &word))
		shadow_set_word(to, word);
	else if (result->operation == INSN_COPY)
		memcpy(to->byte, source[0].shade.byte, to->length);
	else if (result->operation == INSN_AND || result->operation == INSN_AND_NOT ||
		 result->operation == INSN_OR || result->operation == INSN_XOR)
		merge(result, source, to);
	else if (result->operation == INSN_ELEMENTS)
		by_element(result, source, to);
	else if (result->operation == INSN_SHUFFLE)
		shuffle(result, source, to);
	else if (result->operation == INSN_CONVERT)
		convert(result, source, to);
	else if (result->operation == INSN_TOP_BITS)
		top_bits(result, source, to);
	else if (result->operation == INSN_SELECT)
		select_one(applying, result, source, to);
	else if (result->source_count == 1 && result->source[0].kind == INSN_PLACE_FLAGS)
		shadow_set_word(to, 1); /* setcc */
	else
		assume(result, source, to);
	to->any = shadow_has_any(to);
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
	*to = (*to & ~mask) | (shadow_word_of(from) << first & mask);
	if (from->vague && from->any)
		shadow->vague_general |= (uint16_t)(1u << (result->to.number & 15));
	else if (!*to || result->to.length >= 4)
		shadow->vague_general &= (uint16_t) ~(1u << (result->to.number & 15));
	if (from->mixed && from->any)
		shadow->mixed_general |= (uint16_t)(1u << (result->to.number & 15));
	else if (!*to || result->to.length >= 4)
		shadow->mixed_general &= (uint16_t) ~(1u << (result->to.number & 15));
}

static void store_vector(struct shadow *shadow, const struct insn_result *result,
			 const struct shade *from)
{
	unsigned number = result->to.number % SHADOW_VECTORS;
	uint8_t *to = shadow->vector[number];
	bool any = false, above = false;

	if (!from->any && !(shadow->vectors >> number & 1))
		return;
	memcpy(to + result->to.first, from->byte, from->length);
	if (result->clears)
		memset(to + result->to.first + from->length, 0,
		       SHADOW_LINE - result->to.first - from->length);
	for (unsigned i = 0; i < SHADOW_LINE; i++) {
		any |= to[i];
		above |= i >= result->to.length && to[i];
	}
	shadow->vectors = (shadow->vectors & ~(1u << number)) | (uint32_t)any << number;
	if (from->vague && from->any)
		shadow->vague_vectors |= 1u << number;
	else if (!any ||
		 (!result->to.first && (result->clears || (result->to.length >= 16 && !above))))
		shadow->vague_vectors &= ~(1u << number);
}

#define OWN_STACK 65536 /* bytes */

/* What lies on the stack may be the compiler's copy. */
static bool is_on_stack(const struct applying *applying, unsigned operand)
{
	const struct insn_forward *forward = applying->forward;
	const uint64_t top = forward->general[insn_arch.stack_pointer] - insn_arch.red_zone;

	return operand < INSN_MAX_OPERANDS && applying->operands->known[operand] &&
	       (forward->known >> insn_arch.stack_pointer & 1) &&
	       applying->operands->address[operand] - top < OWN_STACK;
}

static void store_memory(const struct applying *applying, unsigned operand,
			 const struct shade *from)
{
	struct shadow *shadow = applying->shadow;

	if (operand < INSN_MAX_OPERANDS && applying->operands->known[operand])
		shadow_write(shadow, applying->operands->address[operand], from->byte,
			     from->length);
	else
		shadow->lost |= from->any;
	shadow->vague_memory |= from->any && from->vague;
	shadow->certain_memory |= from->any && !from->vague && !is_on_stack(applying, operand);
}

/* x87 takes the whole of what it loads; which parts of it MMX uses is not followed. */
static void store_other(struct shadow *shadow, const struct insn_result *result,
			const struct shade *from)
{
	const bool vague = from->vague || result->operation != INSN_COMPUTE;

	shadow->lost |= from->any;
	shadow->vague_memory |= from->any && vague;
	shadow->certain_memory |= from->any && !vague;
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
		shadow->mask[number & 7] = shadow_word_of(from);
		break;
	case INSN_PLACE_MEMORY:
		store_memory(applying, number, from);
		break;
	case INSN_PLACE_FLAGS:
		shadow->flags =
			(uint8_t)((shadow->flags & ~number) | (shadow_word_of(from) & number));
		shadow->vague_flags = from->vague;
		break;
	default:
		store_other(shadow, result, from);
		break;
	}
}

static bool is_of_vectors(const struct insn_result *result)
{
	return result->to.kind == INSN_PLACE_VECTOR ||
	       ((result->to.kind == INSN_PLACE_GENERAL || result->to.kind == INSN_PLACE_MEMORY) &&
		result->source[0].kind == INSN_PLACE_VECTOR);
}

void shadow_apply(struct shadow *shadow, const struct insn_effect *effect,
		  const struct shadow_operands *operands, const struct insn_forward *forward,
		  struct shadow_vectors *vectors)
{
	struct applying applying = {shadow, operands, forward, vectors};
	struct shadow_bytes bytes;
	struct shade made[INSN_EFFECT_RESULTS];
	uint8_t settled = shadow->settled;

	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];

		if (result->to.kind == INSN_PLACE_FLAGS) {
			made[i] = (struct shade){.length = WORD};
			shadow_set_word(&made[i], shadow_of_flags(&applying, result, &made[i].vague,
								  &settled));
		} else {
			operate(&applying, result, &made[i]);
		}
		/* What may not be written keeps what it has, too. */
		if (result->conditional && result->operation != INSN_SELECT) {
			struct shade before;

			shadow_shade_of(shadow, &result->to, operands, &before);
			for (unsigned j = 0; j < made[i].length; j++)
				made[i].byte[j] |= before.byte[j];
			made[i].any |= before.any;
		}
	}
	vectors->general = -1;
	vectors->stored = 0;
	/* Of the results of one instruction at most one is a vector, or made of one. */
	for (unsigned i = 0; i < effect->count; i++)
		if (is_of_vectors(&effect->result[i])) {
			shadow_vector_result(&applying, &effect->result[i], &bytes);
			shadow_vector_store(&applying, &effect->result[i], &bytes);
		}
	shadow->settled = settled;
	for (unsigned i = 0; i < effect->count; i++)
		store(&applying, &effect->result[i], &made[i]);
}
