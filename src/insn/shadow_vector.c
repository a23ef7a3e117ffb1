/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What vector registers hold, byte by byte, of what was loaded into them since the walk began:
 * comparisons by vectors end in a mask of bits, and which of these are 1 for certain decides
 * whether those in question count.
 */
#include "insn/shadow_source.h"

#include <string.h>

static uint64_t low_ones(unsigned count)
{
	return count < 64 ? (1ull << count) - 1 : ~0ull;
}

static void read_memory(const struct applying *applying, const struct insn_place *place,
			struct shadow_bytes *bytes)
{
	unsigned number = place->number;

	if (number >= INSN_MAX_OPERANDS || !applying->operands->known[number])
		return;
	for (unsigned at = 0; at < place->length && at < SHADOW_LINE; at += 8) {
		unsigned length = place->length - at < 8 ? place->length - at : 8u;
		struct value value = forward_read_memory(
			applying->forward, applying->operands->address[number] + at, length);

		memcpy(bytes->byte + at, &value.bits, length);
		bytes->known |= value.known ? low_ones(length) << at : 0;
	}
}

static void read_place(const struct applying *applying, const struct insn_result *result,
		       const struct insn_place *place, struct shadow_bytes *bytes)
{
	const struct shadow_vectors *vectors = applying->vectors;
	unsigned number = place->number, first = place->first % SHADOW_LINE;
	uint64_t word = result->constant;

	memset(bytes, 0, sizeof(*bytes));
	switch (place->kind) {
	case INSN_PLACE_VECTOR:
		memcpy(bytes->byte, vectors->byte[number % SHADOW_VECTORS] + first,
		       SHADOW_LINE - first);
		bytes->known = vectors->known[number % SHADOW_VECTORS] >> first;
		break;
	case INSN_PLACE_GENERAL:
		word = applying->forward->general[number & 15] >> 8 * place->first;
		bytes->known = applying->forward->known >> (number & 15) & 1 ? 0xff : 0;
		memcpy(bytes->byte, &word, sizeof(word));
		break;
	case INSN_PLACE_MEMORY:
		read_memory(applying, place, bytes);
		break;
	default:
		break;
	}
	/* A shorter source has zeroes above. */
	if (place->length < SHADOW_LINE) {
		memset(bytes->byte + place->length, 0, SHADOW_LINE - place->length);
		bytes->known |= ~low_ones(place->length);
	}
}

/* ------------------------------------------------------------------------------------------- */

static void combine(const struct insn_result *result, const struct shadow_bytes source[2],
		    struct shadow_bytes *made)
{
	for (unsigned i = 0; i < SHADOW_LINE; i++) {
		uint8_t a = source[0].byte[i], b = source[1].byte[i];

		made->byte[i] = result->operation == INSN_AND	    ? a & b
				: result->operation == INSN_AND_NOT ? (uint8_t)~a & b
				: result->operation == INSN_OR	    ? a | b
								    : a ^ b;
	}
	made->known = source[0].known & source[1].known;
}

static void compare(const struct insn_result *result, const struct shadow_bytes source[2],
		    struct shadow_bytes *made)
{
	unsigned element = result->element ? result->element : 1;
	uint64_t both = source[0].known & source[1].known;

	for (unsigned at = 0; at + element <= SHADOW_LINE; at += element) {
		bool same = memcmp(source[0].byte + at, source[1].byte + at, element) == 0;

		memset(made->byte + at, same ? 0xff : 0, element);
		if ((both >> at & low_ones(element)) == low_ones(element))
			made->known |= low_ones(element) << at;
	}
}

static void shuffle(const struct insn_result *result, const struct shadow_bytes source[2],
		    struct shadow_bytes *made)
{
	for (unsigned i = 0; i < SHADOW_LINE; i++) {
		unsigned lane = result->lane[i % INSN_LANES];
		unsigned from = i / INSN_LANES * INSN_LANES + lane % INSN_LANES;
		const struct shadow_bytes *of = &source[lane / INSN_LANES & 1];
		bool zero = lane == INSN_LANE_ZERO;

		made->byte[i] = zero ? 0 : of->byte[from];
		made->known |= (zero ? 1 : of->known >> from & 1) << i;
	}
}

static void gather_top_bits(const struct insn_result *result, const struct shadow_bytes *source,
			    struct shadow_bytes *made)
{
	unsigned element = result->element ? result->element : 1, length = result->source[0].length;
	uint64_t word = 0;

	for (unsigned i = 0; (i + 1) * element <= length && i < 64; i++)
		word |= (uint64_t)(source->byte[(i + 1) * element - 1] >> 7) << i;
	memcpy(made->byte, &word, sizeof(word));
	made->known = (source->known & low_ones(length)) == low_ones(length) ? ~0ull : 0;
}

void shadow_vector_result(const struct applying *applying, const struct insn_result *result,
			  struct shadow_bytes *made)
{
	struct shadow_bytes source[2];

	memset(made, 0, sizeof(*made));
	if (result->operation == INSN_CONSTANT) {
		memset(made->byte, result->constant ? 0xff : 0, sizeof(made->byte));
		made->known = ~0ull;
		return;
	}
	if (!result->source_count || result->conditional)
		return;
	for (unsigned i = 0; i < 2; i++)
		read_place(applying, result, &result->source[i < result->source_count ? i : 0],
			   &source[i]);
	if (result->operation == INSN_COPY)
		*made = source[0];
	else if (result->operation == INSN_TOP_BITS)
		gather_top_bits(result, &source[0], made);
	else if (result->operation == INSN_SHUFFLE)
		shuffle(result, source, made);
	else if (result->source_count == 2 && result->operation == INSN_ELEMENTS && result->equal)
		compare(result, source, made);
	else if (result->source_count == 2 && result->operation >= INSN_AND &&
		 result->operation <= INSN_XOR)
		combine(result, source, made);
}

static void store_general(struct shadow_vectors *vectors, const struct insn_result *result,
			  const struct shadow_bytes *made)
{
	unsigned length = result->to.length < 8 ? result->to.length : 8u;

	if (result->to.first || length < 4 || (made->known & low_ones(length)) != low_ones(length))
		return;
	vectors->general = (int8_t)(result->to.number & 15);
	memcpy(&vectors->bits, made->byte, sizeof(vectors->bits));
	vectors->bits = shadow_cut(vectors->bits, length);
}

static void store_memory(const struct applying *applying, const struct insn_result *result,
			 const struct shadow_bytes *made)
{
	struct shadow_vectors *vectors = applying->vectors;
	unsigned number = result->to.number,
		 length = result->to.length < SHADOW_LINE ? result->to.length : SHADOW_LINE;

	if (number >= INSN_MAX_OPERANDS || !applying->operands->known[number] ||
	    (made->known & low_ones(length)) != low_ones(length))
		return;
	vectors->stored = (uint8_t)length;
	vectors->to = applying->operands->address[number];
	memcpy(vectors->value, made->byte, SHADOW_LINE);
}

void shadow_vector_store(const struct applying *applying, const struct insn_result *result,
			 const struct shadow_bytes *made)
{
	struct shadow_vectors *vectors = applying->vectors;
	unsigned number = result->to.number % SHADOW_VECTORS,
		 first = result->to.first % SHADOW_LINE;
	unsigned length = result->to.length < SHADOW_LINE - first ? result->to.length
								  : SHADOW_LINE - first;
	uint64_t mask = low_ones(length) << first;

	if (result->to.kind == INSN_PLACE_GENERAL) {
		store_general(vectors, result, made);
		return;
	}
	if (result->to.kind == INSN_PLACE_MEMORY) {
		store_memory(applying, result, made);
		return;
	}
	if (result->clears) {
		memset(vectors->byte[number] + first + length, 0, SHADOW_LINE - first - length);
		vectors->known[number] |= ~low_ones(first + length);
	}
	memcpy(vectors->byte[number] + first, made->byte, length);
	vectors->known[number] = (vectors->known[number] & ~mask) | (made->known << first & mask);
}

void shadow_vector_tell(const struct shadow_vectors *vectors, struct insn_forward *forward)
{
	if (vectors->general >= 0)
		forward_know_register(forward, vectors->general, vectors->bits);
	for (unsigned at = 0; at < vectors->stored; at += 8) {
		unsigned length = vectors->stored - at < 8 ? vectors->stored - at : 8u;
		uint64_t bits = 0;

		memcpy(&bits, vectors->value + at, length);
		forward_write_memory(forward, vectors->to + at, length, value_known(bits));
	}
}
