/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that a compiler put in front of their condition, in code assembled here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "insn/hoist.h"

#include "code.h"

/* %edi says whether the program makes the load of (%rcx). */
CODE(once, "mov (%rcx), %eax\ntest %edi, %edi\njne 1f\nmov $0, %eax\nret\n1: add $3, %eax\nret");
CODE(kept, "mov (%rcx), %ebx\ntest %edi, %edi\njne 1f\nret\n1: add $3, %ebx\nret");
CODE(handed_on, "mov (%rcx), %esi\ntest %edi, %edi\njne 1f\ncall once_start\nret\n"
		"1: add $3, %esi\nret");
/* %r9 times round; (%rsi) is 0. */
CODE(in_loop,
     "mov (%rcx), %eax\nnopl 0(%rax)\n2: cmp %edi, (%rsi)\njne 3f\nadd %eax, %r8d\n3: add $4, %rsi\n"
     "dec %r9\njne 2b\nmov %r8d, %eax\nret");
CODE(moved,
     "mov (%rcx), %eax\n2: cmp %edi, (%rsi)\nmov $0, %edx\ncmove %eax, %edx\nadd %edx, %r8d\n"
     "dec %r9\njne 2b\nmov %r8d, %eax\nret");
CODE(behind_loop, "mov (%rcx), %eax\n2: dec %r9\njne 2b\nadd %eax, %r8d\nret");
CODE(compared, "mov (%rcx), %eax\ncmp %eax, %edi\nje 1f\nmov $0, %eax\nret\n1: ret");
CODE(unused, "mov (%rcx), %eax\ntest %edi, %edi\nje 1f\nmov $1, %edx\n1: mov $0, %eax\nret");
/* A loop's own value is made of it in each pass, and added where the condition holds. */
CODE(induction,
     "mov (%rcx), %eax\nxor %edx, %edx\n2: cmp %edi, (%rsi)\njne 3f\nadd %rdx, %r8\n3: add %rax, %rdx\n"
     "dec %r9\njne 2b\nmov %r8d, %eax\nret");
CODE(on_stack,
     "mov (%rcx), %rax\nsub $24, %rsp\nmov %rax, 8(%rsp)\nmov $0, %eax\n2: cmp %edi, (%rsi)\njne 3f\n"
     "add 8(%rsp), %r8\n3: dec %r9\njne 2b\nmov %r8d, %eax\nadd $24, %rsp\nret");
CODE(in_frame,
     "mov (%rcx), %rax\nmov %rax, -16(%rbp)\ncmp %edi, (%rsi)\njne 3f\nmov -16(%rbp), %rax\nret\n"
     "3: mov $0, %eax\nret");
CODE(elsewhere, "mov (%rcx), %rax\nmov %rax, (%r8)\ncmp %edi, (%rsi)\njne 3f\nret\n"
		"3: mov $0, %eax\nret");
CODE(of_vectors,
     "movd (%rcx), %xmm4\npshufd $0, %xmm4, %xmm2\n2: pcmpeqd (%rsi), %xmm3\npand %xmm2, %xmm3\n"
     "paddd %xmm3, %xmm1\ndec %r9\njne 2b\nmovd %xmm1, %eax\nret");
CODE(blended, "movd (%rcx), %xmm4\npshufd $0, %xmm4, %xmm2\nvpcmpeqd (%rsi), %xmm3, %xmm0\n"
	      "vpblendvb %xmm0, %xmm2, %xmm1, %xmm5\nmovd %xmm5, %eax\nret");
CODE(stored_by_mask,
     "mov (%rcx), %rax\nvmovq %rax, %xmm0\nvpbroadcastq %xmm0, %ymm0\nvpmaskmovq %ymm0, %ymm2, (%rsi)\nret");
CODE(without_sign, "movsd (%rcx), %xmm4\nandpd %xmm3, %xmm4\nmovsd %xmm4, (%rsi)\nret");
CODE(of_floats,
     "movsd (%rcx), %xmm1\n2: cmp %edi, (%rsi)\njne 3f\naddsd %xmm1, %xmm2\n3: dec %r9\njne 2b\n"
     "movsd %xmm2, %xmm0\nret");
/* A copy that is replaced where the condition does not hold. */
CODE(replaced,
     "movsd (%rcx), %xmm1\n2: cmp %edi, (%rsi)\nmovapd %xmm1, %xmm3\nje 3f\nmovapd %xmm2, %xmm3\n"
     "3: addsd %xmm3, %xmm4\ndec %r9\njne 2b\nmovapd %xmm4, %xmm0\nret");
/* The loop's end stands on both sides of the condition. */
CODE(in_two_loops,
     "mov (%rcx), %r10\n2: cmp %edi, (%rsi)\njne 3f\nadd %r10, %r8\ndec %r9\njne 2b\nmov %r8, %rax\nret\n"
     "3: dec %r9\njne 2b\nmov %r8, %rax\nret");
CODE(left_in_result,
     "mov (%rcx), %rax\ntest %edi, %edi\nje 1f\nadd $1, %rax\nmov %rax, (%rcx)\n1: ret");
/* Behind calls of these. */
CODE(uses_result, "mov %rax, (%rsi)");
CODE(calls_on, "call uses_result_start");
CODE(left_in_vector, "movsd (%rcx), %xmm0\ntest %edi, %edi\nje 1f\nmovsd %xmm0, (%rcx)\n1: ret");
CODE(needs_none, "mov $0, %eax");
CODE(behind_list,
     "mov (%rcx), %eax\n2: mov (%rsi), %rsi\ntest %rsi, %rsi\njne 2b\nadd %eax, (%rdi)\nret");
CODE(nowhere, "mov (%rcx), %eax\ntest %edi, %edi\nje 1f\nud2\n1: jmp *%rdx");

/* As clang -O3 makes it of a loop that adds one to the variable where the condition holds. */
CODE(unrolled, "mov (%rcx), %rax\nxor %ecx, %ecx\njmp 1f\n2: add $2, %rcx\ncmp $0x40, %rcx\nje 5f\n"
	       "1: cmpl $1, (%rdi,%rcx,4)\nje 3f\ncmpl $1, 4(%rdi,%rcx,4)\njne 2b\njmp 4f\n"
	       "3: add $1, %rax\nmov %rax, (%rsi)\ncmpl $1, 4(%rdi,%rcx,4)\njne 2b\n"
	       "4: add $1, %rax\nmov %rax, (%rsi)\njmp 2b\n5: mov $0, %eax\nret");

struct range {
	const uint8_t *start, *end;
};

static struct range caller = {uses_result_start, uses_result_end};

static size_t code(void *context, uint64_t pc, uint8_t *bytes, size_t most)
{
	const struct range *range = context;
	size_t left;

	if (pc >= (uintptr_t)caller.start && pc < (uintptr_t)caller.end)
		range = &caller;
	left = (size_t)((uintptr_t)range->end - pc);
	if (pc < (uintptr_t)range->start || pc >= (uintptr_t)range->end)
		return 0;
	left = left < most ? left : most;
	memcpy(bytes, range->start + (pc - (uintptr_t)range->start), left);
	return left;
}

#define STACK 0x7000 /* where it is, with the address to which the function returns */

static bool ended; /* the process has: no memory of it can be read */

static int zeroes(void *context, uint64_t address, void *to, size_t length)
{
	uint64_t returns_to = (uintptr_t)caller.start;

	(void)context;
	if (ended && address != STACK)
		return -EFAULT;
	memset(to, 0, length);
	if (address == STACK && length == sizeof(returns_to))
		memcpy(to, &returns_to, sizeof(returns_to));
	return 0;
}

static bool is_hoisted(const uint8_t *start, const uint8_t *end, uint64_t edi, uint64_t rounds)
{
	struct range range = {start, end};
	struct insn_registers after = {.general = {[1] = 0x10040,
						   [4] = STACK,
						   [5] = 0x7100,
						   [6] = 0x20000,
						   [7] = edi,
						   [9] = rounds}};
	struct insn_registers before;
	struct insn insn;
	bool found;

	assert_int_equal(insn_decode(start, (size_t)(end - start), (uintptr_t)start, &insn), 0);
	after.pc = (uintptr_t)start + insn.length;
	before = after;
	before.pc = (uintptr_t)start;
	found = insn_is_hoisted(&(struct insn_hoist){code, zeroes, &range}, (uintptr_t)start,
				&after, false);
	assert_int_equal(insn_is_hoisted(&(struct insn_hoist){code, zeroes, &range},
					 (uintptr_t)start, &before, true),
			 found);
	return found;
}

#define HOISTED(name, edi, rounds) is_hoisted(name##_start, name##_end, edi, rounds)

static void where_the_condition_does_not_hold(void **state)
{
	(void)state;
	assert_true(HOISTED(once, 0, 0));
	assert_false(HOISTED(once, 1, 0));
	assert_true(HOISTED(kept, 0, 0));
	assert_false(HOISTED(kept, 1, 0));
}

static void out_of_a_loop(void **state)
{
	(void)state;
	assert_true(HOISTED(in_loop, 5, 3));
	assert_false(HOISTED(in_loop, 0, 3));
	assert_true(HOISTED(in_loop, 5, 1000000));
	assert_true(HOISTED(moved, 5, 3));
	assert_false(HOISTED(moved, 0, 3));
}

static void what_is_used_later(void **state)
{
	(void)state;
	assert_false(HOISTED(behind_loop, 0, 3));
	assert_false(HOISTED(behind_loop, 0, 1000000));
	assert_false(HOISTED(handed_on, 0, 0));
	assert_false(HOISTED(compared, 0, 0));
	assert_false(HOISTED(compared, 1, 0));
}

/* Nothing tells what it was loaded for. */
static void what_nobody_uses(void **state)
{
	(void)state;
	assert_false(HOISTED(unused, 0, 0));
	assert_false(HOISTED(unused, 1, 0));
	assert_false(HOISTED(nowhere, 0, 0));
}

static void through_what_is_made_of_it(void **state)
{
	(void)state;
	assert_true(HOISTED(induction, 5, 3));
	assert_true(HOISTED(induction, 5, 1000000));
	assert_false(HOISTED(induction, 0, 3));
	assert_true(HOISTED(on_stack, 5, 3));
	assert_false(HOISTED(on_stack, 0, 3));
	assert_false(HOISTED(in_frame, 5, 0));
	assert_false(HOISTED(elsewhere, 5, 0));
	assert_true(HOISTED(of_floats, 5, 3));
	assert_false(HOISTED(of_floats, 0, 3));
	assert_true(HOISTED(replaced, 5, 3));
	assert_true(HOISTED(in_two_loops, 5, 3));
	assert_true(HOISTED(in_two_loops, 5, 1000000));
	assert_false(HOISTED(in_two_loops, 0, 3));
	assert_true(HOISTED(replaced, 5, 1000000));
	assert_false(HOISTED(replaced, 0, 3));
}

static void by_masks_that_are_not_known(void **state)
{
	(void)state;
	assert_true(HOISTED(of_vectors, 0, 3));
	assert_true(HOISTED(blended, 0, 0));
	assert_true(HOISTED(stored_by_mask, 0, 0));
	assert_false(HOISTED(without_sign, 0, 0));
}

static void as_the_caller_shows(void **state)
{
	(void)state;
	assert_false(HOISTED(left_in_result, 0, 0));
	caller = (struct range){needs_none_start, needs_none_end};
	assert_true(HOISTED(left_in_result, 0, 0));
	assert_false(HOISTED(left_in_result, 1, 0));
	caller = (struct range){calls_on_start, calls_on_end};
	assert_true(HOISTED(left_in_vector, 0, 0));
	assert_false(HOISTED(left_in_vector, 1, 0));
	caller = (struct range){uses_result_start, uses_result_end};
}

/* What cannot be read leads anywhere: the load may be for a way that the thread does not go. */
static void of_a_process_that_has_ended(void **state)
{
	(void)state;
	ended = true;
	assert_true(HOISTED(in_loop, 5, 3));
	assert_true(HOISTED(in_loop, 5, 1000000));
	assert_true(HOISTED(unrolled, 0, 0));
	assert_true(HOISTED(of_floats, 5, 3));
	assert_true(HOISTED(induction, 5, 3));
	assert_true(HOISTED(induction, 5, 1000000));
	assert_false(HOISTED(behind_loop, 0, 3));
	assert_false(HOISTED(behind_list, 0, 0));
	assert_false(HOISTED(compared, 0, 0));
	assert_false(HOISTED(elsewhere, 5, 0));
	ended = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_the_condition_does_not_hold),
		cmocka_unit_test(out_of_a_loop),
		cmocka_unit_test(what_is_used_later),
		cmocka_unit_test(what_nobody_uses),
		cmocka_unit_test(through_what_is_made_of_it),
		cmocka_unit_test(by_masks_that_are_not_known),
		cmocka_unit_test(as_the_caller_shows),
		cmocka_unit_test(of_a_process_that_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
