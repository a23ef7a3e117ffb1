/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of its sources each byte of a vector instruction's result is made of: told by
 * insn_effect_decode(), and tried by the processor with each byte of the sources changed in turn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "insn/effect.h"

#define VECTOR 32u
#define TRIES 6 /* values of a byte */

/* What the instruction finds, and what it leaves in vector register 0 and in rax. */
struct state {
	uint8_t vector[3][VECTOR];
	uint8_t memory[VECTOR]; /* (%rsi) */
	uint8_t general[8];	/* rax */
	uint8_t made[VECTOR], made_general[8];
};

enum { VECTORS = offsetof(struct state, vector), MADE = offsetof(struct state, made) };

#define FORMS                                              \
	FORM(a0, "punpcklbw %xmm1, %xmm0")                 \
	FORM(a1, "vpunpckhwd %ymm2, %ymm1, %ymm0")         \
	FORM(a2, "unpckhpd (%rsi), %xmm0")                 \
	FORM(a3, "pshufd $0x1b, %xmm1, %xmm0")             \
	FORM(a4, "vpshufd $0x63, (%rsi), %ymm0")           \
	FORM(a5, "shufps $0x88, %xmm2, %xmm0")             \
	FORM(a6, "vshufps $0xdd, %ymm2, %ymm1, %ymm0")     \
	FORM(a7, "vshufpd $0x9, %ymm2, %ymm1, %ymm0")      \
	FORM(a8, "shufpd $1, %xmm1, %xmm0")                \
	FORM(a9, "pshuflw $0x1b, %xmm1, %xmm0")            \
	FORM(b0, "vpshufhw $0x72, %ymm1, %ymm0")           \
	FORM(b1, "vpermilps $0x4e, %ymm1, %ymm0")          \
	FORM(b2, "vpermilpd $0x6, %ymm1, %ymm0")           \
	FORM(b3, "blendps $0x5, %xmm1, %xmm0")             \
	FORM(b4, "vblendps $0xa6, %ymm2, %ymm1, %ymm0")    \
	FORM(b5, "vblendpd $0x9, %ymm2, %ymm1, %ymm0")     \
	FORM(b6, "vpblendw $0x35, %ymm2, %ymm1, %ymm0")    \
	FORM(b7, "vpblendd $0xf0, (%rsi), %ymm1, %ymm0")   \
	FORM(b8, "psrldq $5, %xmm0")                       \
	FORM(b9, "vpslldq $3, %ymm1, %ymm0")               \
	FORM(c0, "palignr $4, %xmm1, %xmm0")               \
	FORM(c1, "vpalignr $20, %ymm2, %ymm1, %ymm0")      \
	FORM(c2, "vmovddup %ymm1, %ymm0")                  \
	FORM(c3, "movddup (%rsi), %xmm0")                  \
	FORM(c4, "movshdup %xmm1, %xmm0")                  \
	FORM(c5, "vmovsldup %ymm1, %ymm0")                 \
	FORM(c6, "vpermq $0xd8, %ymm1, %ymm0")             \
	FORM(c7, "vpermpd $0x1b, (%rsi), %ymm0")           \
	FORM(c8, "vperm2i128 $0x21, %ymm2, %ymm1, %ymm0")  \
	FORM(c9, "vperm2f128 $0x83, (%rsi), %ymm1, %ymm0") \
	FORM(d0, "vinserti128 $1, (%rsi), %ymm1, %ymm0")   \
	FORM(d1, "vinsertf128 $0, %xmm2, %ymm1, %ymm0")    \
	FORM(d2, "vextracti128 $1, %ymm1, %xmm0")          \
	FORM(d3, "vpbroadcastb %xmm1, %ymm0")              \
	FORM(d4, "vpbroadcastd (%rsi), %xmm0")             \
	FORM(d5, "vbroadcastsd %xmm1, %ymm0")              \
	FORM(d6, "vbroadcasti128 (%rsi), %ymm0")           \
	FORM(d7, "pinsrb $7, %eax, %xmm0")                 \
	FORM(d8, "vpinsrw $5, (%rsi), %xmm1, %xmm0")       \
	FORM(d9, "pinsrd $2, (%rsi), %xmm0")               \
	FORM(e0, "vpinsrq $1, %rax, %xmm1, %xmm0")         \
	FORM(e1, "insertps $0x98, %xmm1, %xmm0")           \
	FORM(e2, "vinsertps $0x25, (%rsi), %xmm1, %xmm0")  \
	FORM(e3, "pextrb $9, %xmm1, %eax")                 \
	FORM(e4, "vpextrw $3, %xmm1, %eax")                \
	FORM(e5, "pextrd $2, %xmm1, %eax")                 \
	FORM(e6, "vpextrq $1, %xmm1, %rax")                \
	FORM(e7, "extractps $3, %xmm1, %eax")              \
	FORM(e8, "vmovss %xmm2, %xmm1, %xmm0")             \
	FORM(e9, "vmovsd %xmm2, %xmm1, %xmm0")             \
	FORM(f0, "vmovss (%rsi), %xmm0")                   \
	FORM(f1, "vmovsd (%rsi), %xmm0")                   \
	FORM(f2, "vmovlps (%rsi), %xmm1, %xmm0")           \
	FORM(f3, "vmovhpd (%rsi), %xmm1, %xmm0")           \
	FORM(f4, "vmovlhps %xmm2, %xmm1, %xmm0")           \
	FORM(f5, "vmovhlps %xmm2, %xmm1, %xmm0")           \
	FORM(f6, "pmovzxbw %xmm1, %xmm0")                  \
	FORM(f7, "vpmovzxwq (%rsi), %ymm0")                \
	FORM(f8, "vpmovsxwd %xmm1, %ymm0")                 \
	FORM(f9, "vpmovsxdq (%rsi), %ymm0")                \
	FORM(g0, "vcvtdq2pd %xmm1, %ymm0")                 \
	FORM(g1, "cvtps2pd (%rsi), %xmm0")                 \
	FORM(g2, "packuswb %xmm1, %xmm0")                  \
	FORM(g3, "vpackssdw %ymm2, %ymm1, %ymm0")          \
	FORM(g4, "vpackusdw (%rsi), %ymm1, %ymm0")         \
	FORM(g5, "vcvtpd2ps %ymm1, %xmm0")                 \
	FORM(g6, "cvttpd2dq %xmm1, %xmm0")                 \
	FORM(g7, "vphaddd %ymm2, %ymm1, %ymm0")            \
	FORM(g8, "haddps %xmm1, %xmm0")                    \
	FORM(g9, "vhsubpd %ymm2, %ymm1, %ymm0")            \
	FORM(h0, "pslld $16, %xmm0")                       \
	FORM(h1, "vpsrlq $40, %ymm1, %ymm0")               \
	FORM(h2, "psraw $8, %xmm0")                        \
	FORM(h3, "vpsrad $24, %ymm1, %ymm0")               \
	FORM(h4, "vpsrad $3, %ymm1, %ymm0")                \
	FORM(h5, "pmaddwd %xmm1, %xmm0")                   \
	FORM(h6, "vpsadbw %ymm2, %ymm1, %ymm0")            \
	FORM(h7, "vpmaddubsw %ymm2, %ymm1, %ymm0")         \
	FORM(h8, "vpsllvd %ymm2, %ymm1, %ymm0")            \
	FORM(h9, "vpsrlvq (%rsi), %ymm1, %ymm0")           \
	FORM(i0, "vpaddusw %ymm2, %ymm1, %ymm0")           \
	FORM(i1, "pmulhuw %xmm1, %xmm0")                   \
	FORM(i2, "vcmpps $1, %ymm2, %ymm1, %ymm0")         \
	FORM(i3, "vcvtdq2ps %ymm1, %ymm0")                 \
	FORM(i4, "addsubps %xmm1, %xmm0")                  \
	FORM(i5, "psrlw $8, %xmm0")                        \
	FORM(i6, "vpsllw $16, %ymm1, %ymm0")               \
	FORM(i7, "vpsrldq $16, %ymm1, %ymm0")              \
	FORM(i8, "pmuludq %xmm1, %xmm0")                   \
	FORM(i9, "vpmuldq (%rsi), %ymm1, %ymm0")           \
	FORM(j0, "psrlq $36, %xmm0")                       \
	FORM(j1, "vpslld $20, %ymm1, %ymm0")               \
	FORM(j2, "psraw $11, %xmm0")                       \
	FORM(j3, "vpsrlw $3, %ymm1, %ymm0")

#define FORM(name, text)                                                                       \
	extern const uint8_t name##_start[], name##_end[];                                     \
	void name##_run(struct state *state, const uint8_t *memory, const uint8_t *general);   \
	__asm__(".pushsection .text\n" #name                                                   \
		"_run: vmovdqu (%rdi), %ymm0\nvmovdqu 32(%rdi), %ymm1\n"                       \
		"vmovdqu 64(%rdi), %ymm2\nmov (%rdx), %rax\n" #name "_start: " text "\n" #name \
		"_end: vmovdqu %ymm0, 136(%rdi)\nmov %rax, 168(%rdi)\nvzeroupper\nret\n.popsection");
FORMS
#undef FORM
_Static_assert(VECTORS == 0 && MADE == 136 && offsetof(struct state, made_general) == 168,
	       "the code above has these numbers");

static const struct form {
	const char *text;
	const uint8_t *start, *end;
	void (*run)(struct state *state, const uint8_t *memory, const uint8_t *general);
} forms[] = {
#define FORM(name, text) {text, name##_start, name##_end, name##_run},
	FORMS
#undef FORM
};

static uint8_t random_byte(void)
{
	static uint32_t seed = 1;

	seed = seed * 1664525 + 1013904223;
	return (uint8_t)(seed >> 24);
}

/* The bytes of a source, as the instruction finds them; NULL: another place's. */
static uint8_t *bytes_of(struct state *state, const struct insn_place *place)
{
	switch (place->kind) {
	case INSN_PLACE_VECTOR:
		assert_true(place->number < 3);
		return state->vector[place->number] + place->first;
	case INSN_PLACE_MEMORY:
		return state->memory;
	case INSN_PLACE_GENERAL:
		return state->general + place->first;
	default:
		return NULL;
	}
}

static bool lane_has(const struct insn_result *result, unsigned source, unsigned byte, unsigned of)
{
	const unsigned lane = result->lane[byte];
	const unsigned whole = result->operation == INSN_CONVERT ? result->element : 1;

	return lane != INSN_LANE_ZERO && lane / INSN_LANES == source &&
	       lane % INSN_LANES / whole == of / whole;
}

/* Of two bytes, or of the top one, which fills what is above it. */
static bool shift_has(const struct insn_result *result, unsigned byte, unsigned of)
{
	const int low = (int)(8 * byte) - result->shifted;

	return (low < 8 * (int)(of + 1) && low + 8 > 8 * (int)of) ||
	       (result->shifts_sign && of % result->element == result->element - 1u);
}

/* Is byte `byte` of the result said to depend on byte `of` of that source? */
static bool depends(const struct insn_result *result, unsigned source, unsigned byte, unsigned of)
{
	switch (result->operation) {
	case INSN_COPY:
		return byte == of;
	case INSN_ELEMENTS:
		return byte / result->element == of / result->element &&
		       (!result->taken || of % result->element < result->taken) &&
		       (!result->made || byte % result->element < result->made) &&
		       (!result->shifted || shift_has(result, byte, of));
	case INSN_SHUFFLE:
	case INSN_CONVERT:
		return lane_has(result, source, byte, of);
	default:
		return true;
	}
}

static const uint8_t *made_by(const struct state *state, const struct insn_result *result)
{
	return result->to.kind == INSN_PLACE_GENERAL ? state->made_general : state->made;
}

/* Changes one byte of a source, and looks which of the result's change. */
static void try_byte(const struct form *form, const struct insn_result *result,
		     const struct state *before, unsigned source, unsigned of)
{
	struct state after = *before;
	uint8_t *byte = bytes_of(&after, &result->source[source]);

	byte[of] = random_byte();
	form->run(&after, after.memory, after.general);
	for (unsigned i = 0; i < result->to.length; i++)
		if (made_by(before, result)[i] != made_by(&after, result)[i] &&
		    !depends(result, source, i, of))
			fail_msg("%s: byte %u depends on byte %u of source %u", form->text, i, of,
				 source);
}

static void expect_moved(const struct form *form, const struct insn_result *result,
			 struct state *state)
{
	for (unsigned i = 0; i < result->to.length; i++) {
		const unsigned lane = result->lane[i];
		const uint8_t *from = lane == INSN_LANE_ZERO
					      ? NULL
					      : bytes_of(state, &result->source[lane / INSN_LANES]);

		if (made_by(state, result)[i] != (from ? from[lane % INSN_LANES] : 0))
			fail_msg("%s: byte %u is none of lane %u", form->text, i, lane);
	}
}

static void expect(const struct form *form)
{
	struct insn_effect effect;
	const struct insn_result *result = &effect.result[0];
	struct state state;

	assert_int_equal(insn_effect_decode(form->start, (size_t)(form->end - form->start), 0x1000,
					    &effect),
			 0);
	if (result->operation == INSN_COMPUTE || effect.count != 1)
		fail_msg("%s: not told", form->text);
	for (size_t i = 0; i < sizeof(state); i++)
		((uint8_t *)&state)[i] = random_byte();
	form->run(&state, state.memory, state.general);
	if (result->operation == INSN_SHUFFLE)
		expect_moved(form, result, &state);
	for (unsigned source = 0; source < result->source_count; source++)
		for (unsigned of = 0; bytes_of(&state, &result->source[source]) &&
				      of < result->source[source].length && of < VECTOR;
		     of++)
			for (unsigned i = 0; i < TRIES; i++)
				try_byte(form, result, &state, source, of);
}

static void each_byte_comes_from_where_is_told(void **state)
{
	(void)state;
	if (!__builtin_cpu_supports("avx2"))
		skip();
	for (unsigned i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		expect(&forms[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_comes_from_where_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
