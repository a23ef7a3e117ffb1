/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of a load the code behind it throws away, in code assembled here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "insn/discard.h"

#include "code.h"

#define OBJECT 0x10040u

/* A load of `length` bytes at OBJECT, %rcx, and what follows it. */
CODE(low_field, "mov (%rcx), %eax\nand $0xfffff, %eax\nret");
CODE(high_field, "mov (%rcx), %eax\nshr $24, %eax\nmov %eax, (%rdi)\nret");
CODE(tested, "mov (%rcx), %eax\ntest $0xfff, %eax\nmov $1, %eax\njne low_field_start");
CODE(tested_in_memory, "testl $0xfff, (%rcx)\njne low_field_start");
CODE(copied, "mov (%rcx), %eax\nmov %eax, %edx\nand $0xfffff, %edx\nret");
CODE(extended, "mov (%rcx), %eax\nmovzwl %ax, %eax\nret");
CODE(stored, "mov (%rcx), %eax\nmov %eax, (%rdi)\nand $0xfffff, %eax\nret");
CODE(returned, "mov (%rcx), %eax\nret");
CODE(unused, "mov (%rcx), %eax\nmov $5, %eax\nret");
CODE(behind_branch, "mov (%rcx), %eax\njne low_field_start\nand $0xfffff, %eax\nret");
CODE(chosen, "mov (%rcx), %eax\ncmp %edi, %esi\ncmove 4(%rcx), %eax\nret");
CODE(not_chosen, "mov (%rcx), %eax\ncmp %edi, %esi\ncmovne 4(%rcx), %eax\nret");
CODE(chosen_later, "mov (%rcx), %eax\nmov %eax, %edx\ncmp %edi, %esi\ncmove %r8d, %eax\nret");
CODE(replaced, "mov (%rcx), %eax\nmov $3, %al\nret");

static bool discards_from(const uint8_t *start, const uint8_t *end, bool before, uint64_t first,
			  uint64_t length)
{
	struct insn_registers registers = {.pc = (uintptr_t)start};
	const struct insn_bytes loaded = {OBJECT, 4}, part = {OBJECT + first, length};
	struct insn insn;

	for (int i = 0; i < 16; i++)
		registers.general[i] = 0x666000;
	registers.general[1] = OBJECT;
	assert_int_equal(insn_decode(start, (size_t)(end - start), (uintptr_t)start, &insn), 0);
	registers.pc += before ? 0 : insn.length;
	return insn_discards(start, (size_t)(end - start), (uintptr_t)start, &registers, before,
			     &loaded, &part);
}

static bool discards(const uint8_t *start, const uint8_t *end, uint64_t first, uint64_t length)
{
	return discards_from(start, end, false, first, length);
}

#define DISCARDS(name, first, length) discards(name##_start, name##_end, first, length)

static void what_a_mask_leaves_out(void **state)
{
	(void)state;
	assert_true(DISCARDS(low_field, 3, 1));
	assert_false(DISCARDS(low_field, 2, 1)); /* half of it */
	assert_false(DISCARDS(low_field, 0, 1));
	assert_false(DISCARDS(low_field, 2, 2));
	assert_false(DISCARDS(low_field, 0, 4));
	assert_true(DISCARDS(high_field, 0, 2));
	assert_false(DISCARDS(high_field, 3, 1));
	assert_true(DISCARDS(tested, 2, 2));
	assert_false(DISCARDS(tested, 1, 1));
	assert_true(DISCARDS(tested_in_memory, 2, 1));
	assert_false(DISCARDS(tested_in_memory, 0, 2));
	assert_true(DISCARDS(extended, 2, 2));
	assert_true(DISCARDS(replaced, 0, 1));
}

static void what_is_kept(void **state)
{
	(void)state;
	assert_false(DISCARDS(copied, 3, 1)); /* %eax has it still */
	assert_false(DISCARDS(stored, 3, 1));
	assert_false(DISCARDS(returned, 3, 1));
	assert_false(DISCARDS(behind_branch, 3, 1));
}

/* Nothing tells what it was loaded for. */
static void what_is_not_used_at_all(void **state)
{
	(void)state;
	assert_false(DISCARDS(unused, 3, 1));
	assert_false(DISCARDS(unused, 0, 4));
}

/* `c ? x : y` where both are loaded. */
static void what_a_choice_leaves_out(void **state)
{
	(void)state;
	assert_true(DISCARDS(chosen, 0, 4));
	assert_true(DISCARDS(chosen, 0, 1));
	assert_false(DISCARDS(not_chosen, 0, 4));
	assert_false(DISCARDS(chosen_later, 0, 4));
}

/* The thread is held before it. */
static void what_will_be_loaded(void **state)
{
	(void)state;
	assert_true(discards_from(low_field_start, low_field_end, true, 3, 1));
	assert_false(discards_from(low_field_start, low_field_end, true, 2, 1));
	assert_false(discards_from(tested_in_memory_start, tested_in_memory_end, true, 3, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_mask_leaves_out),
		cmocka_unit_test(what_is_kept),
		cmocka_unit_test(what_is_not_used_at_all),
		cmocka_unit_test(what_a_choice_leaves_out),
		cmocka_unit_test(what_will_be_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
