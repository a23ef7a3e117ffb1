/* SPDX-License-Identifier: Apache-2.0 */
/* What calls that print take of their arguments. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "libc/c_output.h"

#define BASE 0x1000u

static int read_text(void *context, uint64_t address, void *to, size_t length)
{
	const char *text = context;

	if (address < BASE || address - BASE + length > strlen(text) + 1)
		return -EFAULT;
	memcpy(to, text + (address - BASE), length);
	return 0;
}

static int taken_of(const char *text, struct c_output_taken taken[C_OUTPUT_TAKEN])
{
	struct symbol_memory memory = {read_text, (void *)text};

	return c_output_format(&memory, BASE, taken);
}

/* Kinds, bits, and what bounds a string: a number, or the argument before it. */
static void formats(void **state)
{
	static const struct {
		const char *format;
		int count;
		struct c_output_taken taken[4];
	} rows[] = {
		{"", 0, {{0}}},
		{"plain 100%%\n", 0, {{0}}},
		{"%m", 0, {{0}}},
		{"%d", 1, {{C_OUTPUT_INTEGER, 32, -1}}},
		{"%hhd%hu%lx%zd",
		 4,
		 {{C_OUTPUT_INTEGER, 8, -1},
		  {C_OUTPUT_INTEGER, 16, -1},
		  {C_OUTPUT_INTEGER, 64, -1},
		  {C_OUTPUT_INTEGER, 64, -1}}},
		{"%c %p", 2, {{C_OUTPUT_CHARACTER, 8, -1}, {C_OUTPUT_INTEGER, 64, -1}}},
		{"%-08.3lf|%g", 2, {{C_OUTPUT_DOUBLE, 64, -1}, {C_OUTPUT_DOUBLE, 64, -1}}},
		{"%s %.5s", 2, {{C_OUTPUT_STRING, 64, -1}, {C_OUTPUT_STRING, 64, 5}}},
		{"%*d", 2, {{C_OUTPUT_INTEGER, 32, -1}, {C_OUTPUT_INTEGER, 32, -1}}},
		{"%.*s", 2, {{C_OUTPUT_INTEGER, 32, -1}, {C_OUTPUT_STRING, 64, C_OUTPUT_BEFORE}}},
		{"%n", -1, {{0}}},
		{"%Lf", -1, {{0}}},
		{"%ls", -1, {{0}}},
		{"%lc", -1, {{0}}},
		{"%1$d", -1, {{0}}},
		{"%", -1, {{0}}},
		{"%.", -1, {{0}}},
		{"%y", -1, {{0}}},
	};
	struct c_output_taken taken[C_OUTPUT_TAKEN];

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(taken_of(rows[i].format, taken), rows[i].count);
		for (int j = 0; j < rows[i].count; j++) {
			assert_int_equal(taken[j].kind, rows[i].taken[j].kind);
			assert_int_equal(taken[j].bits, rows[i].taken[j].bits);
			assert_int_equal(taken[j].most, rows[i].taken[j].most);
		}
	}
}

static void bounds(void **state)
{
	struct c_output_taken taken[C_OUTPUT_TAKEN];
	char text[2 * C_OUTPUT_TAKEN + 3] = "", endless[2048];
	struct symbol_memory none = {NULL, NULL};

	(void)state;
	for (unsigned i = 0; i < C_OUTPUT_TAKEN; i++)
		strcat(text, "%d");
	assert_int_equal(taken_of(text, taken), C_OUTPUT_TAKEN);
	strcat(text, "%d");
	assert_int_equal(taken_of(text, taken), -1);
	memset(endless, 'a', sizeof(endless));
	endless[sizeof(endless) - 1] = 0;
	assert_int_equal(taken_of(endless, taken), -1);
	assert_int_equal(c_output_format(&none, BASE, taken), -1);
}

static void names(void **state)
{
	(void)state;
	assert_non_null(c_output_find("printf"));
	assert_int_equal(c_output_find("_IO_printf")->format, 0);
	assert_int_equal(c_output_find("___printf_chk")->format, 1);
	assert_int_equal(c_output_find("__GI__IO_puts")->string, 0);
	assert_null(c_output_find("vprintf"));
	assert_null(c_output_find("sprintf"));
	assert_null(c_output_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test(bounds),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
