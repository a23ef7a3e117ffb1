/* SPDX-License-Identifier: Apache-2.0 */
/* Loads whose value goes on only where it is not zero, and such as look alike. */
#include "slice/slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define START 0x1000

static struct flow_slice_work work;
static struct flow_slice slice;

#define RAX                                              \
	(struct insn_place)                              \
	{                                                \
		.kind = INSN_PLACE_GENERAL, .length = 8, \
	}

static bool is_barred(const struct flow_end *end, uint64_t value)
{
	for (unsigned i = 0; i < end->barred_count; i++)
		if (end->barred[i] == value)
			return true;
	return false;
}

/* Is `value` one with which what the load at the function's start has brought is not returned? */
static bool is_barred_by(const uint8_t *code, size_t length, uint64_t value)
{
	assert_int_equal(flow_slice_return(code, length, START, RAX, &work, &slice), 0);
	for (unsigned i = 0; i < slice.ends; i++)
		if (slice.end[i].kind == FLOW_END_LOAD && slice.end[i].pc == START)
			return is_barred(&slice.end[i], value);
	fail_msg("the load is no end");
	return false;
}

static bool is_guarded(const uint8_t *code, size_t length)
{
	return is_barred_by(code, length, 0);
}

/* mov (%rdi),%rax; test %rax,%rax; jne 1f; mov (%rsi),%rax; 1: ret */
static void what_is_known_already(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x85, 0xc0,
				       0x75, 0x03, 0x48, 0x8b, 0x06, 0xc3};

	(void)state;
	assert_true(is_guarded(code, sizeof(code)));
	/* The other one is not. */
	for (unsigned i = 0; i < slice.ends; i++)
		assert_int_equal(is_barred(&slice.end[i], 0), slice.end[i].pc == START);
}

/* mov (%rdi),%rax; cmp $0,%rax; mov %rsi,%rcx; je 1f; ret; 1: lea 1(%rcx),%rax; ret */
static void another_comparison(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x83, 0xf8, 0x00, 0x48, 0x89,
				       0xf1, 0x74, 0x01, 0xc3, 0x48, 0x8d, 0x41, 0x01, 0xc3};
	/* cmp $1,%rax */
	uint8_t other[sizeof(code)];

	(void)state;
	/* rcx is looked for, and was written on the way there: it might have been the value. */
	assert_false(is_guarded(code, sizeof(code)));
	for (unsigned i = 0; i < sizeof(code); i++)
		other[i] = code[i];
	/* lea 1(%rsi),%rax instead */
	other[15] = 0x46;
	assert_true(is_guarded(other, sizeof(other)));
	other[6] = 1;
	assert_false(is_guarded(other, sizeof(other)));
	assert_true(is_barred_by(other, sizeof(other), 1));
}

/* mov (%rdi),%rax; test %rax,%rax; jne 1f; add $1,%rax; 1: ret */
static void a_zero_that_goes_on(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x85, 0xc0, 0x75,
				       0x04, 0x48, 0x83, 0xc0, 0x01, 0xc3};

	(void)state;
	assert_false(is_guarded(code, sizeof(code)));
}

/* mov (%rdi),%rax; test %al,%al; jne 1f; xor %eax,%eax; 1: ret */
static void a_part_that_is_zero(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x84, 0xc0, 0x75, 0x02, 0x31, 0xc0, 0xc3};

	(void)state;
	assert_false(is_guarded(code, sizeof(code)));
}

/* mov (%rdi),%rax; test %rax,%rax; je 1f; xor %eax,%eax; 1: ret: only a zero goes on. */
static void the_other_way_about(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x85, 0xc0,
				       0x74, 0x02, 0x31, 0xc0, 0xc3};

	(void)state;
	assert_false(is_guarded(code, sizeof(code)));
}

/* mov (%rdi),%rax; mov %rax,(%rsi); test %rax,%rax; jne 1f; xor %eax,%eax; 1: ret */
static void a_store_before_it_is_looked_at(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x89, 0x06, 0x48,
				       0x85, 0xc0, 0x75, 0x02, 0x31, 0xc0, 0xc3};
	const struct flow_stored stored = {0, 0, 8};

	(void)state;
	assert_int_equal(
		flow_slice_store(code, sizeof(code), START, START + 3, &stored, &work, &slice), 0);
	assert_int_equal(slice.end[0].kind, FLOW_END_LOAD);
	assert_false(is_barred(&slice.end[0], 0));
	assert_true(is_guarded(code, sizeof(code)));
}

/* movzbl (%rdx),%eax; cmp $40,%al; je 1f; cmp $45,%al; je 1f; sub $48,%eax; ret; 1: mov
 * (%rsi),%eax; ret */
static void several_letters(void **state)
{
	static const uint8_t code[] = {0x0f, 0xb6, 0x02, 0x3c, 0x28, 0x74, 0x08, 0x3c, 0x2d,
				       0x74, 0x04, 0x83, 0xe8, 0x30, 0xc3, 0x8b, 0x06, 0xc3};
	uint8_t other[sizeof(code)];

	(void)state;
	assert_true(is_barred_by(code, sizeof(code), '('));
	assert_true(is_barred_by(code, sizeof(code), '-'));
	assert_false(is_guarded(code, sizeof(code)));
	for (unsigned i = 0; i < sizeof(code); i++)
		other[i] = code[i];
	/* ja in place of the first je: a minus may go on that way. */
	other[5] = 0x77;
	assert_false(is_barred_by(other, sizeof(other), '('));
	assert_false(is_barred_by(other, sizeof(other), '-'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_already),
		cmocka_unit_test(another_comparison),
		cmocka_unit_test(a_zero_that_goes_on),
		cmocka_unit_test(a_part_that_is_zero),
		cmocka_unit_test(the_other_way_about),
		cmocka_unit_test(several_letters),
		cmocka_unit_test(a_store_before_it_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
