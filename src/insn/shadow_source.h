/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction's result is made of, and its shadow. Not for other folders. */
#ifndef INSN_SHADOW_SOURCE_H
#define INSN_SHADOW_SOURCE_H

#include "insn/shadow.h"
#include "insn/values.h"

#define SHADOW_WORD 8u

/* A source's or a result's shadow. */
struct shade {
	uint8_t byte[SHADOW_LINE];
	unsigned length; /* bytes */
	bool vague;
	bool mixed; /* a bit may depend on bits of other places than its own */
	bool any;
};

struct source {
	struct shade shade;
	uint64_t bits;	 /* of its first 8 bytes … */
	uint64_t shadow; /* … and their shadow */
	bool known;	 /* `bits` is, as the thread has them: those with a shadow, too */
};

struct applying {
	struct shadow *shadow;
	const struct shadow_operands *operands;
	const struct insn_forward *forward;
	struct shadow_vectors *vectors;
};

/* A register's or operand's shadow. */
void shadow_shade_of(const struct shadow *shadow, const struct insn_place *place,
		     const struct shadow_operands *operands, struct shade *shade);
/* Bytes of a place that a shade has room for. */
unsigned shadow_bounded(const struct insn_place *place);
uint64_t shadow_word_of(const struct shade *shade);
void shadow_set_word(struct shade *shade, uint64_t word);
bool shadow_has_any(const struct shade *shade);
/* Does an exclusive or take a bit that depends on the value from both sides, so that it may be
 * gone?
 */
bool shadow_is_crossed(const struct insn_result *result, const struct source *source);

void shadow_gather(const struct applying *applying, const struct insn_result *result,
		   struct source source[INSN_EFFECT_SOURCES]);

/* The shadow of the low 8 bytes of a result, of `length` bytes. False: the operation is not one
 * that is followed bit by bit. */
bool shadow_of_word(const struct insn_result *result, const struct source *source, unsigned length,
		    uint64_t *word);

/* A vector register's contents, or what is made of some. */
struct shadow_bytes {
	uint8_t byte[SHADOW_LINE];
	uint64_t known; /* a bit each */
};

/* What a result that is a vector holds, or a general register gets of one. */
void shadow_vector_result(const struct applying *applying, const struct insn_result *result,
			  struct shadow_bytes *made);
void shadow_vector_store(const struct applying *applying, const struct insn_result *result,
			 const struct shadow_bytes *made);

/* May the operation, of which nothing is known, leave the bytes in question out? Those of vectors
 * do: they test under a mask, search a string up to its end, or take one element. */
bool shadow_takes_part(const struct insn_result *result, const struct source *source);

/* One register twice. */
bool shadow_is_same(const struct insn_place *a, const struct insn_place *b);
/* A sum of one register with itself. */
bool shadow_is_doubled(const struct insn_result *result);

/* Flags that depend on the value (INSN_FLAG_…), of a result that is flags, and conditions that do
 * not all the same (SHADOW_…). */
unsigned shadow_of_flags(const struct applying *applying, const struct insn_result *result,
			 bool *vague, uint8_t *settled);

static inline uint64_t shadow_cut(uint64_t bits, unsigned length)
{
	return value_cut(bits, length * 8);
}

#endif
