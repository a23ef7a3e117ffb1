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

#define CODE(name, text)                                   \
	extern const uint8_t name##_start[], name##_end[]; \
	__asm__(".pushsection .text\n" #name "_start:\n" text "\n" #name "_end:\n.popsection")

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
CODE(nowhere, "mov (%rcx), %eax\ntest %edi, %edi\nje 1f\nud2\n1: jmp *%rdx");

struct range {
	const uint8_t *start, *end;
};

static size_t code(void *context, uint64_t pc, uint8_t *bytes, size_t most)
{
	const struct range *range = context;
	size_t left = (size_t)((uintptr_t)range->end - pc);

	if (pc < (uintptr_t)range->start || pc >= (uintptr_t)range->end)
		return 0;
	left = left < most ? left : most;
	memcpy(bytes, range->start + (pc - (uintptr_t)range->start), left);
	return left;
}

static int zeroes(void *context, uint64_t address, void *to, size_t length)
{
	(void)context;
	(void)address;
	memset(to, 0, length);
	return 0;
}

static bool is_hoisted(const uint8_t *start, const uint8_t *end, uint64_t edi, uint64_t rounds)
{
	struct range range = {start, end};
	struct insn_registers after = {
		.general = {[1] = 0x10040, [4] = 0x7000, [6] = 0x20000, [7] = edi, [9] = rounds}};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_the_condition_does_not_hold),
		cmocka_unit_test(out_of_a_loop),
		cmocka_unit_test(what_is_used_later),
		cmocka_unit_test(what_nobody_uses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
