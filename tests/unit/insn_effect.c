/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions, assembled here, make of what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "insn/effect.h"

#include "code.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 };

CODE(load, "mov (%rdi), %eax");
CODE(store_byte, "mov %ah, 3(%rdi,%rcx,4)");
CODE(extend, "movzbl (%rdi), %edx");
CODE(extend_sign, "movswq %cx, %rdx");
CODE(mask, "and $15, %ecx");
CODE(clear, "xor %eax, %eax");
CODE(clear_vector, "pxor %xmm3, %xmm3");
CODE(clear_three, "vpxor %xmm1, %xmm1, %xmm3");
CODE(clear_none, "vpxor %xmm1, %xmm2, %xmm3");
CODE(compare, "cmp %rdx, 8(%rdi)");
CODE(branch, "1: jbe 1b");
CODE(branch_count, "1: jrcxz 1b");
CODE(address, "lea 16(%rdi,%rcx,8), %rax");
CODE(choose, "cmovl %rdx, %rax");
CODE(set, "setne %cl");
CODE(push, "push %rbx");
CODE(pop, "pop %rbx");
CODE(exchange, "xchg %rbx, (%rdi)");
CODE(move_string, "rep movsb");
CODE(compare_string, "repe cmpsb");
CODE(move_vector, "vmovdqu (%rsi), %ymm2");
CODE(move_vector_out, "vmovdqu %ymm2, (%rdi)");
CODE(move_evex, "vmovdqu64 (%rsi), %ymm18");
CODE(move_masked, "vmovdqu64 (%rsi), %ymm18{%k1}");
CODE(move_scalar, "movss (%rsi), %xmm1");
CODE(move_scalar_in, "movss %xmm2, %xmm1");
CODE(move_scalar_evex, "vmovsd (%rsi), %xmm18");
CODE(move_scalar_evex_out, "vmovsd %xmm18, (%rsi)");
CODE(convert, "cvtsi2sdq %rax, %xmm1");
CODE(add_scalar, "addss (%rdi), %xmm1");
CODE(add_three, "vaddsd %xmm2, %xmm3, %xmm1");
CODE(move_high, "movhps (%rsi), %xmm1");
CODE(move_low_out, "movlps %xmm1, (%rsi)");
CODE(add_three_evex, "vaddsd %xmm18, %xmm19, %xmm17");
CODE(compare_scalar, "cmpsd $1, %xmm2, %xmm1");
CODE(compare_scalar_evex, "vcmpsd $1, %xmm2, %xmm3, %k1");
CODE(round_scalar, "vroundss $1, %xmm2, %xmm3, %xmm1");
CODE(fused, "vfmadd231sd (%rdi), %xmm2, %xmm1");
CODE(fused_evex, "vfnmsub213ss %xmm18, %xmm2, %xmm1");
CODE(move_high_out, "vmovhps %xmm1, (%rsi)");
CODE(move_high_out_evex, "vmovhpd %xmm18, (%rsi)");
CODE(move_high_three, "vmovhps (%rsi), %xmm2, %xmm1");
CODE(compare_bytes, "vpcmpeqb (%rdi), %ymm0, %ymm1");
CODE(add_one_to_all, "vpaddd (%rdi){1to8}, %ymm0, %ymm1");
CODE(blend, "vpblendvb %ymm4, (%rdi), %ymm1, %ymm2");
CODE(blend_implicit, "pblendvb %xmm0, %xmm3, %xmm1");
CODE(top_bits, "vpmovmskb %ymm1, %eax");
CODE(jump_register, "jmp *%rdx");
CODE(jump_memory, "jmp *(%rdx,%rax,8)");
CODE(return_to, "ret");
CODE(shift, "shl $3, %rax");
CODE(shift_one, "shr %rax");
CODE(shift_by, "shl %cl, %rdx");
CODE(multiply, "imul $12, %rsi, %rax");
CODE(multiply_wide, "mul %rdx");
CODE(spread, "sbb %eax, %eax");
CODE(swap, "bswap %eax");
CODE(add_memory, "addl $1, 4(%rax)");

static struct insn_effect effect;

static void decode(const uint8_t *start, const uint8_t *end)
{
	assert_int_equal(
		insn_effect_decode(start, (size_t)(end - start), (uintptr_t)start, &effect), 0);
}

#define DECODE(name) decode(name##_start, name##_end)

static const struct insn_result *result_in(unsigned kind)
{
	for (unsigned i = 0; i < effect.count; i++)
		if (effect.result[i].to.kind == kind)
			return &effect.result[i];
	fail_msg("nothing of kind %u is written", kind);
	return NULL;
}

static void expect_place(struct insn_place place, unsigned kind, unsigned number, unsigned first,
			 unsigned length)
{
	assert_int_equal(place.kind, kind);
	assert_int_equal(place.number, number);
	assert_int_equal(place.first, first);
	assert_int_equal(place.length, length);
}

static void moves_copy_bytes(void **state)
{
	const struct insn_result *result;

	(void)state;
	DECODE(load);
	result = result_in(INSN_PLACE_GENERAL);
	assert_int_equal(result->operation, INSN_COPY);
	assert_true(result->clears);
	expect_place(result->to, INSN_PLACE_GENERAL, RAX, 0, 4);
	expect_place(result->source[0], INSN_PLACE_MEMORY, 0, 0, 4);
	assert_int_equal(effect.insn.operand[0].base, RDI);
	DECODE(store_byte);
	result = result_in(INSN_PLACE_MEMORY);
	expect_place(result->source[0], INSN_PLACE_GENERAL, RAX, 1, 1);
	assert_int_equal(effect.count, 1);
	DECODE(extend);
	result = result_in(INSN_PLACE_GENERAL);
	assert_int_equal(result->operation, INSN_COPY);
	expect_place(result->source[0], INSN_PLACE_MEMORY, 0, 0, 1);
	DECODE(extend_sign);
	result = result_in(INSN_PLACE_GENERAL);
	assert_int_equal(result->operation, INSN_COPY_SIGN);
	expect_place(result->source[0], INSN_PLACE_GENERAL, RCX, 0, 2);
	DECODE(swap);
	assert_int_equal(result_in(INSN_PLACE_GENERAL)->operation, INSN_COPY_REVERSED);
}

static void arithmetic_tells_its_sources(void **state)
{
	const struct insn_result *result;

	(void)state;
	DECODE(mask);
	result = result_in(INSN_PLACE_GENERAL);
	assert_int_equal(result->operation, INSN_AND);
	assert_int_equal(result->source_count, 2);
	expect_place(result->source[0], INSN_PLACE_GENERAL, RCX, 0, 4);
	assert_int_equal(result->source[1].kind, INSN_PLACE_CONSTANT);
	assert_int_equal(result->constant, 15);
	assert_int_equal(result_in(INSN_PLACE_FLAGS)->operation, INSN_AND);
	DECODE(address);
	result = result_in(INSN_PLACE_GENERAL);
	assert_int_equal(result->operation, INSN_ADD);
	assert_int_equal(result->source_count, 3);
	assert_int_equal(result->source[1].shift, 3);
	assert_int_equal(result->constant, 16);
	DECODE(shift);
	result = result_in(INSN_PLACE_GENERAL);
	assert_int_equal(result->operation, INSN_SHIFT_LEFT);
	assert_int_equal(result->constant, 3);
	DECODE(shift_one);
	result = result_in(INSN_PLACE_GENERAL);
	assert_int_equal(result->operation, INSN_SHIFT_RIGHT);
	assert_int_equal(result->constant, 1);
	DECODE(shift_by);
	expect_place(result_in(INSN_PLACE_GENERAL)->source[1], INSN_PLACE_GENERAL, RCX, 0, 1);
	DECODE(multiply);
	result = result_in(INSN_PLACE_GENERAL);
	assert_int_equal(result->operation, INSN_MULTIPLY);
	expect_place(result->source[0], INSN_PLACE_GENERAL, RSI, 0, 8);
	DECODE(multiply_wide);
	assert_int_equal(result_in(INSN_PLACE_GENERAL)->operation, INSN_COMPUTE);
	DECODE(add_memory);
	expect_place(result_in(INSN_PLACE_MEMORY)->source[0], INSN_PLACE_MEMORY, 0, 0, 4);
	assert_int_equal(result_in(INSN_PLACE_MEMORY)->constant, 1);
}

static void what_cancels_has_no_sources(void **state)
{
	(void)state;
	DECODE(clear);
	assert_int_equal(result_in(INSN_PLACE_GENERAL)->operation, INSN_CONSTANT);
	assert_int_equal(result_in(INSN_PLACE_FLAGS)->operation, INSN_CONSTANT);
	assert_int_equal(result_in(INSN_PLACE_FLAGS)->source_count, 0);
	DECODE(clear_vector);
	assert_int_equal(result_in(INSN_PLACE_VECTOR)->operation, INSN_CONSTANT);
	DECODE(clear_three);
	assert_int_equal(result_in(INSN_PLACE_VECTOR)->operation, INSN_CONSTANT);
	assert_true(result_in(INSN_PLACE_VECTOR)->clears);
	DECODE(clear_none);
	assert_int_equal(result_in(INSN_PLACE_VECTOR)->operation, INSN_XOR);
	DECODE(spread);
	assert_int_equal(result_in(INSN_PLACE_GENERAL)->operation, INSN_SUBTRACT);
	expect_place(result_in(INSN_PLACE_GENERAL)->source[2], INSN_PLACE_FLAGS, INSN_FLAG_CARRY, 0,
		     0);
}

static void flags_lead_from_comparisons_to_what_they_decide(void **state)
{
	const struct insn_result *result;

	(void)state;
	DECODE(compare);
	assert_int_equal(effect.count, 1);
	result = result_in(INSN_PLACE_FLAGS);
	assert_int_equal(result->operation, INSN_SUBTRACT);
	expect_place(result->source[0], INSN_PLACE_MEMORY, 0, 0, 8);
	expect_place(result->source[1], INSN_PLACE_GENERAL, RDX, 0, 8);
	DECODE(branch);
	expect_place(effect.decides, INSN_PLACE_FLAGS, INSN_FLAG_CARRY | INSN_FLAG_ZERO, 0, 0);
	DECODE(branch_count);
	expect_place(effect.decides, INSN_PLACE_GENERAL, RCX, 0, 8);
	DECODE(choose);
	result = result_in(INSN_PLACE_GENERAL);
	assert_int_equal(result->operation, INSN_SELECT);
	assert_int_equal(result->source_count, 3);
	expect_place(result->source[1], INSN_PLACE_GENERAL, RDX, 0, 8);
	expect_place(result->source[2], INSN_PLACE_FLAGS, INSN_FLAG_SIGN | INSN_FLAG_OVERFLOW, 0,
		     0);
	DECODE(set);
	result = result_in(INSN_PLACE_GENERAL);
	expect_place(result->to, INSN_PLACE_GENERAL, RCX, 0, 1);
	expect_place(result->source[0], INSN_PLACE_FLAGS, INSN_FLAG_ZERO, 0, 0);
	assert_int_equal(result->source_count, 1);
}

static void the_stack_and_exchanges(void **state)
{
	(void)state;
	DECODE(push);
	expect_place(result_in(INSN_PLACE_MEMORY)->source[0], INSN_PLACE_GENERAL, RBX, 0, 8);
	assert_int_equal(result_in(INSN_PLACE_GENERAL)->to.number, RSP);
	DECODE(pop);
	assert_int_equal(effect.count, 2);
	expect_place(effect.result[1].to, INSN_PLACE_GENERAL, RBX, 0, 8);
	expect_place(effect.result[1].source[0], INSN_PLACE_MEMORY, 0, 0, 8);
	DECODE(exchange);
	assert_int_equal(effect.count, 2);
	expect_place(result_in(INSN_PLACE_MEMORY)->source[0], INSN_PLACE_GENERAL, RBX, 0, 8);
	expect_place(result_in(INSN_PLACE_GENERAL)->source[0], INSN_PLACE_MEMORY, 0, 0, 8);
	DECODE(move_string);
	expect_place(result_in(INSN_PLACE_MEMORY)->to, INSN_PLACE_MEMORY, 0, 0, 1);
	expect_place(result_in(INSN_PLACE_MEMORY)->source[0], INSN_PLACE_MEMORY, 1, 0, 1);
	assert_int_equal(effect.insn.operand[0].base, RDI);
	DECODE(compare_string);
	assert_int_equal(result_in(INSN_PLACE_FLAGS)->operation, INSN_SUBTRACT);
	assert_int_equal(result_in(INSN_PLACE_FLAGS)->source_count, 2);
	DECODE(jump_register);
	expect_place(effect.decides, INSN_PLACE_GENERAL, RDX, 0, 8);
	DECODE(jump_memory);
	expect_place(effect.decides, INSN_PLACE_MEMORY, 0, 0, 8);
	DECODE(return_to);
	expect_place(effect.decides, INSN_PLACE_MEMORY, 0, 0, 8);
}

static void vectors(void **state)
{
	const struct insn_result *result;

	(void)state;
	DECODE(move_vector);
	result = result_in(INSN_PLACE_VECTOR);
	assert_int_equal(result->operation, INSN_COPY);
	expect_place(result->to, INSN_PLACE_VECTOR, 2, 0, 32);
	expect_place(result->source[0], INSN_PLACE_MEMORY, 0, 0, 32);
	DECODE(move_vector_out);
	expect_place(result_in(INSN_PLACE_MEMORY)->source[0], INSN_PLACE_VECTOR, 2, 0, 32);
	DECODE(move_evex);
	result = result_in(INSN_PLACE_VECTOR);
	assert_int_equal(result->operation, INSN_COPY);
	expect_place(result->to, INSN_PLACE_VECTOR, 18, 0, 32);
	DECODE(move_masked);
	assert_int_equal(result_in(INSN_PLACE_VECTOR)->operation, INSN_COMPUTE);
	DECODE(move_scalar);
	result = result_in(INSN_PLACE_VECTOR);
	expect_place(result->to, INSN_PLACE_VECTOR, 1, 0, 16);
	expect_place(result->source[0], INSN_PLACE_MEMORY, 0, 0, 4);
	DECODE(move_scalar_in);
	expect_place(result_in(INSN_PLACE_VECTOR)->to, INSN_PLACE_VECTOR, 1, 0, 4);
	DECODE(move_scalar_evex);
	result = result_in(INSN_PLACE_VECTOR);
	assert_int_equal(result->operation, INSN_COPY);
	expect_place(result->to, INSN_PLACE_VECTOR, 18, 0, 16);
	assert_true(result->clears);
	assert_int_equal(result->source_count, 1);
	expect_place(result->source[0], INSN_PLACE_MEMORY, 0, 0, 8);
	DECODE(move_scalar_evex_out);
	result = result_in(INSN_PLACE_MEMORY);
	assert_int_equal(result->operation, INSN_COPY);
	expect_place(result->to, INSN_PLACE_MEMORY, 0, 0, 8);
	expect_place(result->source[0], INSN_PLACE_VECTOR, 18, 0, 16);
	DECODE(move_high);
	expect_place(result_in(INSN_PLACE_VECTOR)->to, INSN_PLACE_VECTOR, 1, 8, 8);
	DECODE(convert);
	assert_int_equal(effect.count, 1);
	expect_place(effect.result[0].to, INSN_PLACE_VECTOR, 1, 0, 8);
	assert_int_equal(effect.result[0].source_count, 1);
	expect_place(effect.result[0].source[0], INSN_PLACE_GENERAL, RAX, 0, 8);
	DECODE(add_scalar);
	assert_int_equal(effect.count, 1);
	expect_place(effect.result[0].to, INSN_PLACE_VECTOR, 1, 0, 4);
	expect_place(effect.result[0].source[0], INSN_PLACE_VECTOR, 1, 0, 4);
	expect_place(effect.result[0].source[1], INSN_PLACE_MEMORY, 0, 0, 4);
	DECODE(add_three);
	assert_int_equal(effect.count, 2);
	expect_place(effect.result[0].to, INSN_PLACE_VECTOR, 1, 0, 8);
	expect_place(effect.result[0].source[0], INSN_PLACE_VECTOR, 3, 0, 8);
	expect_place(effect.result[0].source[1], INSN_PLACE_VECTOR, 2, 0, 8);
	expect_place(effect.result[1].to, INSN_PLACE_VECTOR, 1, 8, 8);
	expect_place(effect.result[1].source[0], INSN_PLACE_VECTOR, 3, 8, 8);
	assert_true(effect.result[1].clears);
	DECODE(move_low_out);
	expect_place(result_in(INSN_PLACE_MEMORY)->source[0], INSN_PLACE_VECTOR, 1, 0, 8);
	DECODE(move_high_out);
	result = result_in(INSN_PLACE_MEMORY);
	assert_int_equal(result->operation, INSN_COPY);
	expect_place(result->to, INSN_PLACE_MEMORY, 0, 0, 8);
	expect_place(result->source[0], INSN_PLACE_VECTOR, 1, 8, 8);
	DECODE(move_high_out_evex);
	expect_place(result_in(INSN_PLACE_MEMORY)->source[0], INSN_PLACE_VECTOR, 18, 8, 8);
	DECODE(move_high_three);
	assert_int_equal(result_in(INSN_PLACE_VECTOR)->operation, INSN_SHUFFLE);
	DECODE(compare_bytes);
	result = result_in(INSN_PLACE_VECTOR);
	assert_int_equal(result->operation, INSN_ELEMENTS);
	assert_int_equal(result->element, 1);
	assert_int_equal(result->source_count, 2);
	DECODE(add_one_to_all);
	assert_int_equal(result_in(INSN_PLACE_VECTOR)->operation, INSN_COMPUTE);
	DECODE(top_bits);
	result = result_in(INSN_PLACE_GENERAL);
	assert_int_equal(result->operation, INSN_TOP_BITS);
	expect_place(result->source[0], INSN_PLACE_VECTOR, 1, 0, 32);
}

/* The lowest element is computed of the lowest ones, what is above it comes from one operand. */
static void expect_scalar(unsigned number, unsigned length, unsigned sources, unsigned rest)
{
	const struct insn_result *result = &effect.result[0];

	assert_int_equal(effect.count, rest ? 2 : 1);
	expect_place(result->to, INSN_PLACE_VECTOR, number, 0, length);
	assert_int_equal(result->operation, INSN_COMPUTE);
	assert_int_equal(result->source_count, sources);
	for (unsigned i = 0; i < sources; i++)
		assert_int_equal(result->source[i].length, length);
	if (!rest)
		return;
	result = &effect.result[1];
	expect_place(result->to, INSN_PLACE_VECTOR, number, length, 16 - length);
	expect_place(result->source[0], INSN_PLACE_VECTOR, rest, length, 16 - length);
	assert_true(result->clears);
}

static void the_lowest_element(void **state)
{
	(void)state;
	DECODE(add_three_evex);
	expect_scalar(17, 8, 2, 19);
	DECODE(compare_scalar);
	expect_scalar(1, 8, 2, 0);
	DECODE(compare_scalar_evex);
	assert_int_equal(result_in(INSN_PLACE_MASK)->operation, INSN_COMPUTE);
	DECODE(round_scalar);
	expect_scalar(1, 4, 1, 3);
	DECODE(fused);
	expect_scalar(1, 8, 3, 1);
	DECODE(fused_evex);
	expect_scalar(1, 4, 3, 1);
}

static void what_a_blend_chooses_from(void **state)
{
	const struct insn_result *result;

	(void)state;
	DECODE(blend);
	result = result_in(INSN_PLACE_VECTOR);
	assert_int_equal(result->operation, INSN_BLEND);
	assert_int_equal(result->source_count, 3);
	expect_place(result->source[0], INSN_PLACE_VECTOR, 1, 0, 32);
	assert_int_equal(result->source[1].kind, INSN_PLACE_MEMORY);
	expect_place(result->source[2], INSN_PLACE_VECTOR, 4, 0, 32);
	DECODE(blend_implicit);
	result = result_in(INSN_PLACE_VECTOR);
	assert_int_equal(result->operation, INSN_BLEND);
	assert_int_equal(result->source_count, 3);
	expect_place(result->source[0], INSN_PLACE_VECTOR, 1, 0, 16);
	expect_place(result->source[1], INSN_PLACE_VECTOR, 3, 0, 16);
	expect_place(result->source[2], INSN_PLACE_VECTOR, 0, 0, 16);
}

/* Whatever the bytes are, counts are within bounds. */
static void anything_is_bounded(void **state)
{
	uint64_t random = 1;
	uint8_t bytes[INSN_MAX_LENGTH];

	(void)state;
	for (unsigned i = 0; i < 300000; i++) {
		for (unsigned j = 0; j < sizeof(bytes); j++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			bytes[j] = (uint8_t)(random >> 56);
		}
		if (insn_effect_decode(bytes, sizeof(bytes), 0x1000, &effect))
			continue;
		assert_true(effect.count <= INSN_EFFECT_RESULTS);
		for (unsigned j = 0; j < effect.count; j++) {
			const struct insn_result *result = &effect.result[j];

			assert_true(result->source_count <= INSN_EFFECT_SOURCES);
			if (result->to.kind == INSN_PLACE_MEMORY)
				assert_true(result->to.number < INSN_MAX_OPERANDS);
			if (result->to.kind == INSN_PLACE_GENERAL)
				assert_true(result->to.number < 16 &&
					    result->to.first + result->to.length <= 9);
			if (result->to.kind == INSN_PLACE_VECTOR)
				assert_true(result->to.number < 32 &&
					    result->to.first + result->to.length <= 64);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_copy_bytes),
		cmocka_unit_test(arithmetic_tells_its_sources),
		cmocka_unit_test(what_cancels_has_no_sources),
		cmocka_unit_test(flags_lead_from_comparisons_to_what_they_decide),
		cmocka_unit_test(the_stack_and_exchanges),
		cmocka_unit_test(vectors),
		cmocka_unit_test(the_lowest_element),
		cmocka_unit_test(what_a_blend_chooses_from),
		cmocka_unit_test(anything_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
