/* SPDX-License-Identifier: Apache-2.0 */
/* May an instruction that takes one of two have taken what is not made of the slice's end? */
#include "slice/slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "code.h"

#define START 0x1000
/* A sum, or a second load. */
CODE(sum_or_load, "mov (%rdi), %rax\n"
		  "add %rcx, %rax\n"
		  "mov (%rsi), %rdx\n"
		  "test %r9, %r9\n"
		  "cmove %rdx, %rax\n"
		  "ret");
CODE(from_memory, "mov (%rdi), %rax\n"
		  "test %r9, %r9\n"
		  "cmove (%rsi), %rax\n"
		  "ret");
/* A digit's value, whichever digit it is; or a constant, by another way. */
CODE(digit, "movzbl (%rdi), %eax\n"
	    "lea -48(%rax), %ecx\n"
	    "sub $87, %eax\n"
	    "cmp $10, %ecx\n"
	    "cmovb %ecx, %eax\n"
	    "jb 1f\n"
	    "mov $7, %eax\n"
	    "1: ret");
/* One of two arguments, and with it a load. */
CODE(beside, "mov (%rdi), %rax\n"
	     "test %r9, %r9\n"
	     "cmove %rdx, %rsi\n"
	     "xor %rsi, %rax\n"
	     "ret");
CODE(returned, "push %rbx\n"
	       "mov %rdi, %rbx\n"
	       "call 1f\n"
	       "1: add $1, %rax\n"
	       "cmove %rbx, %rax\n"
	       "pop %rbx\n"
	       "ret");
/* What says which is no one of the two. */
CODE(by_elements, "movdqu (%rdi), %xmm0\n"
		  "movdqu (%rsi), %xmm1\n"
		  "paddd %xmm1, %xmm1\n"
		  "pblendvb %xmm0, %xmm3, %xmm1\n"
		  "movdqa %xmm1, %xmm0\n"
		  "ret");
/* What is taken besides is none of the slice's. */
CODE(elsewhere, "mov (%rdi), %rax\n"
		"test %r9, %r9\n"
		"cmove %rax, %rcx\n"
		"mov %rcx, (%rsi)\n"
		"cmove %r9, %r8\n"
		"add %r8, %rax\n"
		"jb 1f\n"
		"mov $7, %eax\n"
		"1: ret");

static struct flow_slice_work work;
static struct flow_slice slice;

/* At a return: of how many ends of that kind there are so many are one of two. */
static unsigned one_of_two(const uint8_t *code, const uint8_t *end, const struct insn_place *place,
			   enum flow_end_kind kind, unsigned *of)
{
	unsigned count = 0;

	*of = 0;
	assert_int_equal(
		flow_slice_return(code, (size_t)(end - code), START, *place, &work, &slice), 0);
	for (unsigned i = 0; i < slice.ends; i++)
		if (slice.end[i].kind == kind) {
			count += slice.end[i].one_of_two;
			++*of;
		}
	return count;
}

#define ASSERT_ONE_OF_TWO(name, kind, wanted, all)                                               \
	do {                                                                                     \
		unsigned of;                                                                     \
                                                                                                 \
		assert_int_equal(one_of_two(name##_start, name##_end, &rax, kind, &of), wanted); \
		assert_int_equal(of, all);                                                       \
	} while (0)

static const struct insn_place rax = {.kind = INSN_PLACE_GENERAL, .length = 8};

static void each_of_two(void **state)
{
	(void)state;
	ASSERT_ONE_OF_TWO(sum_or_load, FLOW_END_LOAD, 2, 2);
	ASSERT_ONE_OF_TWO(sum_or_load, FLOW_END_ARGUMENT, 1, 1);
	ASSERT_ONE_OF_TWO(from_memory, FLOW_END_LOAD, 2, 2);
	ASSERT_ONE_OF_TWO(returned, FLOW_END_RETURN, 1, 1);
}

static void not_what_both_are_made_of(void **state)
{
	(void)state;
	ASSERT_ONE_OF_TWO(digit, FLOW_END_LOAD, 0, 1);
}

static void not_what_is_beside_them(void **state)
{
	(void)state;
	ASSERT_ONE_OF_TWO(beside, FLOW_END_LOAD, 0, 1);
	ASSERT_ONE_OF_TWO(beside, FLOW_END_ARGUMENT, 2, 2);
	ASSERT_ONE_OF_TWO(elsewhere, FLOW_END_LOAD, 0, 1);
}

static void elements_of_a_vector(void **state)
{
	const struct insn_place xmm0 = {.kind = INSN_PLACE_VECTOR, .length = 16};
	unsigned of;

	(void)state;
	assert_int_equal(one_of_two(by_elements_start, by_elements_end, &xmm0, FLOW_END_LOAD, &of),
			 1);
	assert_int_equal(of, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_of_two),
		cmocka_unit_test(not_what_both_are_made_of),
		cmocka_unit_test(not_what_is_beside_them),
		cmocka_unit_test(elements_of_a_vector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
