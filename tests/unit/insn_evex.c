/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the string functions of glibc 2.36 for AVX-512 (memmove_evex, memmove_avx512, memset_evex,
 * strlen_evex, strcpy_evex, strchr_evex, …) are made of: registers from 16 on, masks, and elements
 * that a mask selects. Each form below stands in that library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "insn/effect.h"
#include <trapline/event.h>

#define GENERAL INSN_PLACE_GENERAL
#define VECTOR INSN_PLACE_VECTOR
#define MASK INSN_PLACE_MASK
#define MEMORY INSN_PLACE_MEMORY
#define BIT(kind) (1u << (kind))

/* What is written, by which operation, and which kinds of places it is made of. */
#define FORMS                                                                                      \
	FORM(load, "vmovdqu64 (%rsi), %ymm16", VECTOR, 16, 32, INSN_COPY, BIT(MEMORY), false)      \
	FORM(load_whole, "vmovdqu64 64(%rsi), %zmm31", VECTOR, 31, 64, INSN_COPY, BIT(MEMORY),     \
	     false)                                                                                \
	FORM(load_aligned, "vmovdqa64 (%rsi), %ymm20", VECTOR, 20, 32, INSN_COPY, BIT(MEMORY),     \
	     false)                                                                                \
	FORM(load_low, "vmovups (%rsi), %zmm5", VECTOR, 5, 64, INSN_COPY, BIT(MEMORY), false)      \
	FORM(store, "vmovdqu64 %ymm17, -32(%rdi,%rdx)", MEMORY, 0, 32, INSN_COPY, BIT(VECTOR),     \
	     false)                                                                                \
	FORM(store_whole, "vmovdqa64 %zmm18, 128(%rdi)", MEMORY, 0, 64, INSN_COPY, BIT(VECTOR),    \
	     false)                                                                                \
	FORM(store_small, "vmovdqu64 %xmm16, (%rdi)", MEMORY, 0, 16, INSN_COPY, BIT(VECTOR),       \
	     false)                                                                                \
	FORM(store_low, "vmovups %zmm1, (%rdi)", MEMORY, 0, 64, INSN_COPY, BIT(VECTOR), false)     \
	FORM(store_past, "vmovntdq %zmm16, (%rdi)", MEMORY, 0, 64, INSN_COPY, BIT(VECTOR), false)  \
	FORM(move_out, "vmovq %xmm16, %rcx", GENERAL, 1, 8, INSN_COPY, BIT(VECTOR), false)         \
	FORM(move_across, "vmovdqa64 %ymm18, %ymm2", VECTOR, 2, 32, INSN_COPY, BIT(VECTOR), false) \
	FORM(clear, "vpxorq %xmm16, %xmm16, %xmm16", VECTOR, 16, 16, INSN_CONSTANT, 0, false)      \
	FORM(differ, "vpxorq (%rsi), %ymm16, %ymm17", VECTOR, 17, 32, INSN_XOR,                    \
	     BIT(MEMORY) | BIT(VECTOR), false)                                                     \
	FORM(least, "vpminub 32(%rdi), %ymm16, %ymm17", VECTOR, 17, 32, INSN_ELEMENTS,             \
	     BIT(MEMORY) | BIT(VECTOR), false)                                                     \
	FORM(lower, "vpaddb %ymm19, %ymm18, %ymm16{%k1}", VECTOR, 16, 32, INSN_COMPUTE,            \
	     BIT(VECTOR) | BIT(MASK), true)                                                        \
	FORM(some, "vmovdqu8 (%rsi), %ymm16{%k1}", VECTOR, 16, 32, INSN_COMPUTE,                   \
	     BIT(MEMORY) | BIT(MASK), true)                                                        \
	FORM(equal, "vpcmpeqb (%rdi), %ymm16, %k0", MASK, 0, 8, INSN_COMPUTE,                      \
	     BIT(MEMORY) | BIT(VECTOR), false)                                                     \
	FORM(equal_some, "vpcmpeqb 32(%rsi), %ymm17, %k1{%k2}", MASK, 1, 8, INSN_COMPUTE,          \
	     BIT(MEMORY) | BIT(VECTOR) | BIT(MASK), false)                                         \
	FORM(below, "vpcmpltub %ymm18, %ymm17, %k1", MASK, 1, 8, INSN_COMPUTE, BIT(VECTOR), false) \
	FORM(none, "vptestnmb %ymm17, %ymm17, %k3", MASK, 3, 8, INSN_COMPUTE, BIT(VECTOR), false)  \
	FORM(mask_out, "kmovd %k0, %eax", GENERAL, 0, 4, INSN_COMPUTE, BIT(MASK), false)           \
	FORM(mask_out_whole, "kmovq %k2, %rcx", GENERAL, 1, 8, INSN_COMPUTE, BIT(MASK), false)     \
	FORM(mask_in, "kmovd %ecx, %k1", MASK, 1, 8, INSN_COMPUTE, BIT(GENERAL), false)            \
	FORM(masks_joined, "kunpckdq %k0, %k1, %k2", MASK, 2, 8, INSN_COMPUTE, BIT(MASK), false)   \
	FORM(fill, "vpbroadcastb %esi, %ymm16", VECTOR, 16, 32, INSN_SHUFFLE, BIT(GENERAL), false) \
	FORM(three, "vpternlogd $0xde, (%rsi), %ymm17, %ymm18", VECTOR, 18, 32, INSN_COMPUTE,      \
	     BIT(MEMORY) | BIT(VECTOR), false)

#define FORM(name, text, to, number, length, operation, sources, conditional) \
	extern const uint8_t name##_start[], name##_end[];                    \
	__asm__(".pushsection .text\n" #name "_start:\n" text "\n" #name "_end:\n.popsection");
FORMS
#undef FORM

static const struct form {
	const char *text;
	const uint8_t *start, *end;
	unsigned to, number, length, operation, sources;
	bool conditional;
} forms[] = {
#define FORM(name, text, to, number, length, operation, sources, conditional) \
	{text, name##_start, name##_end, to, number, length, operation, sources, conditional},
	FORMS
#undef FORM
};

static const struct insn_result *result_of(const struct insn_effect *effect,
					   const struct form *form)
{
	for (unsigned i = 0; i < effect->count; i++)
		if (effect->result[i].to.kind == form->to &&
		    effect->result[i].to.number == form->number)
			return &effect->result[i];
	fail_msg("%s: nothing is written there", form->text);
	return NULL;
}

static void expect(const struct form *form)
{
	struct insn_effect effect;
	const struct insn_result *result;
	unsigned sources = 0;

	if (insn_effect_decode(form->start, (size_t)(form->end - form->start), 0x1000, &effect))
		fail_msg("%s: cannot be decoded", form->text);
	assert_int_equal(effect.insn.length, form->end - form->start);
	assert_false(effect.more);
	result = result_of(&effect, form);
	for (unsigned i = 0; i < result->source_count; i++)
		sources |= BIT(result->source[i].kind);
	if (result->to.length != form->length || result->operation != form->operation ||
	    (sources & form->sources) != form->sources || result->conditional != form->conditional)
		fail_msg("%s: %u bytes by operation %u of %#x%s", form->text, result->to.length,
			 result->operation, sources, result->conditional ? ", perhaps" : "");
}

static void each_form_of_glibcs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		expect(&forms[i]);
}

/* The form's memory operand is all of what is moved. */
static void operands_of_memory(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const struct form *form = &forms[i];
		struct insn insn;

		assert_int_equal(insn_decode(form->start, (size_t)(form->end - form->start), 0x1000,
					     &insn),
				 0);
		if (form->to == MEMORY) {
			assert_int_equal(insn.operand_count, 1);
			assert_int_equal(insn.operand[0].access, TL_WRITE);
			assert_int_equal(insn.operand[0].size, form->length);
		} else if (form->sources & BIT(MEMORY)) {
			assert_int_equal(insn.operand_count, 1);
			assert_int_equal(insn.operand[0].access, TL_READ);
			assert_int_equal(insn.operand[0].size,
					 form->to == MASK ? 32 : form->length);
			assert_int_equal(insn.operand[0].masked, (form->sources & BIT(MASK)) != 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_of_glibcs),
		cmocka_unit_test(operands_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
