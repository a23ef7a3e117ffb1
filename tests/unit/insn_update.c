/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a thread is between the load and the store of an update, in code assembled here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "insn/update.h"

#define OBJECT 0x10040u
#define LENGTH 4

/* A function: `load`, behind it, and `store` mark where a thread may stand. */
#define CODE(name, before, between, behind)                                                     \
	extern const uint8_t name##_start[], name##_loaded[], name##_store[], name##_end[];     \
	__asm__(".pushsection .text\n" #name "_start:\n" before "\n" #name "_loaded:\n" between \
		"\n" #name "_store:\n" behind "\n" #name "_end:\n.popsection")

#define LOAD "mov 0x40(%rcx), %eax"
#define STORE "mov %eax, 0x40(%rcx)"

CODE(increment, "test %edi, %edi\njz 1f\n" LOAD, "add $1, %eax", STORE "\n1: ret");
CODE(other_address, LOAD, "add $1, %eax", "mov %eax, 0x44(%rcx)\nret");
CODE(other_size, LOAD, "add $1, %eax", "mov %ax, 0x40(%rcx)\nret");
CODE(other_base, LOAD, "mov %rdi, %rcx", STORE "\nret");
CODE(over_its_base, "mov 0x40(%rcx), %ecx", "nop", STORE "\nret");
CODE(branch_between, LOAD, "test %eax, %eax\njz 1f", STORE "\n1: ret");
CODE(call_between, LOAD, "call increment_start", STORE "\nret");
CODE(jumped_into, "test %edi, %edi\njz 1f\n" LOAD, "1: add $1, %eax", STORE "\nret");
CODE(jumped_to_store, LOAD, "add $1, %eax", "1:" STORE "\ndec %edi\njnz 1b\nret");
CODE(table, LOAD, "add $1, %eax", STORE "\njmp *%rdx");
CODE(too_far, LOAD, ".fill 60, 1, 0x90", STORE "\nret");
CODE(two_stores, LOAD "\nadd $1, %eax\n" STORE, "xor %eax, %eax", STORE "\nret");
CODE(compared_alone, "cmpl $0, 0x40(%rcx)\nnop", "sete %al\nmovzbl %al, %eax", STORE "\nret");
CODE(locked, LOAD, "add $1, %eax", "lock xadd %eax, 0x40(%rcx)\nret");

/* What is stored has nothing to do with what was loaded, as in an atomic read and an atomic write
 * in a row. */
CODE(stores_other, LOAD, "add %eax, %edx", "mov %ebx, 0x40(%rcx)\nret");
CODE(stores_constant, LOAD, "add %eax, %edx\nxor %eax, %eax", STORE "\nret");
CODE(by_another, LOAD, "lea 1(%rax), %ebx", "mov %ebx, 0x40(%rcx)\nret");
CODE(by_flags, LOAD, "cmp $3, %eax\nmov $5, %ebx\nsete %bl", "mov %ebx, 0x40(%rcx)\nret");
CODE(by_pointer, LOAD, "mov 8(%rax), %ebx", "mov %ebx, 0x40(%rcx)\nret");
CODE(by_stack, LOAD, "mov %eax, -8(%rsp)\nmov -8(%rsp), %ebx", "mov %ebx, 0x40(%rcx)\nret");

#define EXCHANGE "lock cmpxchg %edx, 0x40(%rcx)\n"
CODE(retry, LOAD, "1: mov %eax, %edx\nor %edi, %edx", EXCHANGE "jne 1b\nret");
CODE(retry_copied, "mov 0x40(%rcx), %r9d", "mov %r9d, %edx\nmov %r9d, %eax\nor %edi, %edx",
     EXCHANGE "ret");
CODE(retry_of_other, LOAD, "mov %eax, %edx\nor %edi, %edx", "lock cmpxchg %edx, 0x44(%rcx)\nret");
CODE(retry_lost, LOAD, "mov %eax, %edx\nxor %eax, %eax", EXCHANGE "ret");
CODE(retry_branch, LOAD, "test %eax, %eax\njz 1f", EXCHANGE "1: ret");
CODE(retry_unlocked, LOAD, "mov %eax, %edx\nor %edi, %edx", "cmpxchg %edx, 0x40(%rcx)\nret");
CODE(retry_add, LOAD, "mov %eax, %edx", "lock xadd %edx, 0x40(%rcx)\nret");

#define FRAME "push %rbp\nmov %rsp, %rbp\n"
CODE(argument_kept, "endbr64\n" FRAME "push %rbx\nsub $40, %rsp\nmov %rdi, -24(%rbp)", LOAD, "ret");
CODE(float_kept, FRAME "movss %xmm0, -24(%rbp)", LOAD, "ret");
CODE(other_kept, FRAME "mov %rdi, %rbx\nmov %rbx, -24(%rbp)", LOAD, "ret");
CODE(spilled, FRAME "push %r12\npush %rbx\nsub $40, %rsp\nmov %rdi, -24(%rbp)", LOAD, "ret");
CODE(none_kept, FRAME LOAD, "add $1, %eax", STORE "\nret");
CODE(no_frame, "sub $40, %rsp\nmov %rdi, 8(%rsp)", LOAD, "ret");
CODE(inherited_frame, "mov %rdi, -24(%rbp)", LOAD, "ret");
CODE(early_call, FRAME "call increment_start\nmov %rdi, -24(%rbp)", LOAD, "ret");

static const struct insn_bytes object = {OBJECT, LENGTH};

static struct insn_registers registers_at(const uint8_t *place)
{
	struct insn_registers registers = {.pc = (uintptr_t)place};

	for (int i = 0; i < 16; i++)
		registers.general[i] = 0x666000;
	registers.general[1] = OBJECT - 0x40;
	return registers;
}

static bool follows(const uint8_t *loaded, const uint8_t *end)
{
	struct insn_registers registers = registers_at(loaded);
	const struct insn load = {.loaded = 0};

	return insn_update_follows(loaded, (size_t)(end - loaded), &load, &registers, &object);
}

static bool begun(const uint8_t *start, const uint8_t *store, const uint8_t *end)
{
	struct insn_registers registers = registers_at(store);

	return insn_update_begun(start, (size_t)(end - start), (uintptr_t)start, &registers,
				 &object);
}

static bool unoptimised(const uint8_t *start, const uint8_t *end)
{
	return insn_is_unoptimised(start, (size_t)(end - start), (uintptr_t)start);
}

#define UNOPTIMISED(name) unoptimised(name##_start, name##_end)
#define FOLLOWS(name) follows(name##_loaded, name##_end)
#define BEGUN(name) begun(name##_start, name##_store, name##_end)

static void who_keeps_arguments_first_is_unoptimised(void **state)
{
	(void)state;
	assert_true(UNOPTIMISED(argument_kept));
	assert_false(UNOPTIMISED(float_kept)); /* accepted */
	assert_false(UNOPTIMISED(other_kept));
	assert_false(UNOPTIMISED(spilled));
	assert_false(UNOPTIMISED(none_kept));
	assert_false(UNOPTIMISED(no_frame));
	assert_false(UNOPTIMISED(inherited_frame));
	assert_false(UNOPTIMISED(early_call));
	assert_false(UNOPTIMISED(increment));
	assert_false(unoptimised(argument_kept_start, argument_kept_start + 12));
}

static void a_store_of_what_was_loaded_is_an_update(void **state)
{
	(void)state;
	assert_true(FOLLOWS(increment));
	assert_true(BEGUN(increment));
}

static void what_is_stored_comes_of_what_was_loaded(void **state)
{
	(void)state;
	assert_false(FOLLOWS(stores_other));
	assert_false(BEGUN(stores_other));
	assert_false(FOLLOWS(stores_constant));
	assert_false(BEGUN(stores_constant));
	assert_true(FOLLOWS(by_another));
	assert_true(BEGUN(by_another));
	assert_true(FOLLOWS(by_flags));
	assert_true(BEGUN(by_flags));
	assert_true(FOLLOWS(by_pointer));
	assert_true(BEGUN(by_pointer));
	assert_true(FOLLOWS(by_stack));
	assert_true(BEGUN(by_stack));
}

static void other_bytes_are_none(void **state)
{
	(void)state;
	assert_false(FOLLOWS(other_address));
	assert_false(FOLLOWS(other_size));
	assert_false(FOLLOWS(other_base));
	assert_false(BEGUN(other_base));
	assert_false(BEGUN(over_its_base));
}

static void code_that_may_go_elsewhere_is_none(void **state)
{
	(void)state;
	assert_false(FOLLOWS(branch_between));
	assert_false(BEGUN(branch_between));
	assert_false(FOLLOWS(call_between));
	assert_false(BEGUN(call_between));
	assert_false(FOLLOWS(too_far));
	assert_false(BEGUN(too_far));
}

static void who_may_have_jumped_in_has_not_loaded(void **state)
{
	(void)state;
	assert_true(FOLLOWS(jumped_into));
	assert_false(BEGUN(jumped_into));
	assert_false(BEGUN(jumped_to_store));
	assert_false(BEGUN(table));
}

static void a_second_store_or_another_kind_of_access_is_none(void **state)
{
	(void)state;
	assert_false(BEGUN(two_stores));
	assert_false(BEGUN(compared_alone));
	assert_false(FOLLOWS(locked));
}

/* Whatever is cut off is not known. */
static void less_code_says_less(void **state)
{
	(void)state;
	for (const uint8_t *end = increment_loaded; end <= increment_store; end++) {
		assert_false(follows(increment_loaded, end));
		assert_false(begun(increment_start, increment_store, end - 1));
	}
}

static bool retries(const uint8_t *begin, const uint8_t *end, int loaded)
{
	struct insn_registers registers = registers_at(begin);

	return insn_retry_follows(begin, (size_t)(end - begin), &registers, loaded, &object);
}

static void test_retry(void **state)
{
	(void)state;
	assert_true(retries(retry_loaded, retry_end, 0));
	assert_true(retries(retry_copied_loaded, retry_copied_end, 9));
	assert_false(retries(retry_loaded, retry_end, 3));
	assert_false(retries(retry_of_other_loaded, retry_of_other_end, 0));
	assert_false(retries(retry_lost_loaded, retry_lost_end, 0));
	assert_false(retries(retry_branch_loaded, retry_branch_end, 0));
	assert_false(retries(retry_unlocked_loaded, retry_unlocked_end, 0));
	assert_false(retries(retry_add_loaded, retry_add_end, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_keeps_arguments_first_is_unoptimised),
		cmocka_unit_test(a_store_of_what_was_loaded_is_an_update),
		cmocka_unit_test(what_is_stored_comes_of_what_was_loaded),
		cmocka_unit_test(other_bytes_are_none),
		cmocka_unit_test(code_that_may_go_elsewhere_is_none),
		cmocka_unit_test(who_may_have_jumped_in_has_not_loaded),
		cmocka_unit_test(a_second_store_or_another_kind_of_access_is_none),
		cmocka_unit_test(less_code_says_less),
		cmocka_unit_test(test_retry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
