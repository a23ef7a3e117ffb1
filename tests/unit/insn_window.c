/* SPDX-License-Identifier: Apache-2.0 */
/* Code longer than a window is decoded to its end, each piece read once; what cannot be read is
 * told apart from what is no instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "insn/window.h"

#include <errno.h>
#include <string.h>

#define START 0x400000u
#define LENGTH 5000u
#define LEA 7u /* bytes of one instruction */

static uint8_t code[LENGTH];
static uint64_t readable = LENGTH; /* bytes of it */
static unsigned reads;

static size_t read_code(void *context, uint64_t at, uint8_t *bytes, size_t length)
{
	uint64_t offset = at - START, left = offset < readable ? readable - offset : 0;

	(void)context;
	reads++;
	if (length > left)
		length = left;
	memcpy(bytes, code + offset, length);
	return length;
}

/* lea 0(%rip),%rax, over and over. */
static void fill(void)
{
	static const uint8_t lea[LEA] = {0x48, 0x8d, 0x05, 0, 0, 0, 0};

	for (unsigned i = 0; i < LENGTH; i++)
		code[i] = lea[i % LEA];
}

/* Where decoding ends, and how. */
static uint64_t decode_all(int *err)
{
	struct insn_window window = {.read = read_code};
	uint64_t at = START, end = START + LENGTH / LEA * LEA;
	struct insn insn;

	reads = 0;
	*err = 0;
	while (at < end && !(*err = insn_window_decode(&window, at, end, &insn))) {
		assert_int_equal(insn.length, LEA);
		assert_int_equal(insn.address_taken, at + LEA);
		at += insn.length;
	}
	return at - START;
}

static void test_to_the_end(void **state)
{
	int err;

	(void)state;
	fill();
	readable = LENGTH;
	assert_int_equal(decode_all(&err), LENGTH / LEA * LEA);
	assert_int_equal(err, 0);
	assert_in_range(reads, 2, 2 + LENGTH / (1024 - INSN_MAX_LENGTH));
}

static void test_unreadable(void **state)
{
	int err;

	(void)state;
	fill();
	readable = 300 * LEA;
	assert_int_equal(decode_all(&err), readable);
	assert_int_equal(err, -EFAULT);
}

static void test_no_instruction(void **state)
{
	int err;

	(void)state;
	fill();
	readable = LENGTH;
	code[200 * LEA] = 0x06; /* invalid in 64-bit mode */
	assert_int_equal(decode_all(&err), 200 * LEA);
	assert_int_not_equal(err, 0);
	assert_int_not_equal(err, -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_to_the_end),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_no_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
