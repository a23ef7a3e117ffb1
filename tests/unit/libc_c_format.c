/* SPDX-License-Identifier: Apache-2.0 */
/* What formats of printf() take. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "libc/c_format.h"

#define BASE 0x1000u

static int read_text(void *context, uint64_t address, void *to, size_t length)
{
	const char *text = context;

	if (address < BASE || address - BASE + length > strlen(text) + 1)
		return -EFAULT;
	memcpy(to, text + (address - BASE), length);
	return 0;
}

/* How many; -1: not all of it is known. */
static int taken_of(const char *text, struct c_format *format)
{
	struct symbol_memory memory = {read_text, (void *)text};

	c_format_read(&memory, BASE, format);
	return format->whole ? format->count : -1;
}

/* Kinds, bits, and what bounds a string: a number, or the argument before it. */
static void formats(void **state)
{
	static const struct {
		const char *format;
		int count;
		struct c_format_taken taken[4];
	} rows[] = {
		{"", 0, {{0}}},
		{"plain 100%%\n", 0, {{0}}},
		{"%m", 0, {{0}}},
		{"%d", 1, {{C_FORMAT_INTEGER, 32, -1}}},
		{"%hhd%hu%lx%zd",
		 4,
		 {{C_FORMAT_INTEGER, 8, -1},
		  {C_FORMAT_INTEGER, 16, -1},
		  {C_FORMAT_INTEGER, 64, -1},
		  {C_FORMAT_INTEGER, 64, -1}}},
		{"%c %p", 2, {{C_FORMAT_CHARACTER, 8, -1}, {C_FORMAT_INTEGER, 64, -1}}},
		{"%-08.3lf|%g", 2, {{C_FORMAT_DOUBLE, 64, -1}, {C_FORMAT_DOUBLE, 64, -1}}},
		{"%s %.5s", 2, {{C_FORMAT_STRING, 64, -1}, {C_FORMAT_STRING, 64, 5}}},
		{"%*d", 2, {{C_FORMAT_INTEGER, 32, -1}, {C_FORMAT_INTEGER, 32, -1}}},
		{"%.*s", 2, {{C_FORMAT_INTEGER, 32, -1}, {C_FORMAT_STRING, 64, C_FORMAT_BEFORE}}},
		{"%n", -1, {{0}}},
		{"%Lf", -1, {{0}}},
		{"%ls", 1, {{C_FORMAT_WIDE, 64, -1}}},
		{"%lc", 1, {{C_FORMAT_WIDE, 64, -1}}},
		{"%1$d", -1, {{0}}},
		{"%", -1, {{0}}},
		{"%.", -1, {{0}}},
		{"%y", -1, {{0}}},
	};
	struct c_format format;

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(taken_of(rows[i].format, &format), rows[i].count);
		for (int j = 0; j < rows[i].count; j++) {
			assert_int_equal(format.taken[j].kind, rows[i].taken[j].kind);
			assert_int_equal(format.taken[j].bits, rows[i].taken[j].bits);
			assert_int_equal(format.taken[j].most, rows[i].taken[j].most);
		}
	}
}

static void bounds(void **state)
{
	struct c_format format;
	char text[2 * C_FORMAT_TAKEN + 3] = "", endless[2048];
	struct symbol_memory none = {NULL, NULL};

	(void)state;
	for (unsigned i = 0; i < C_FORMAT_TAKEN; i++)
		strcat(text, "%d");
	assert_int_equal(taken_of(text, &format), C_FORMAT_TAKEN);
	strcat(text, "%d");
	assert_int_equal(taken_of(text, &format), -1);
	memset(endless, 'a', sizeof(endless));
	endless[sizeof(endless) - 1] = 0;
	assert_int_equal(taken_of(endless, &format), -1);
	c_format_read(&none, BASE, &format);
	assert_false(format.whole);
	assert_int_equal(format.count, 0);
}

/* What stands before that is told. */
static void parts(void **state)
{
	struct c_format format;

	(void)state;
	assert_int_equal(taken_of("%d %s %n %d", &format), -1);
	assert_int_equal(format.count, 2);
	assert_int_equal(format.taken[1].kind, C_FORMAT_STRING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test(bounds),
		cmocka_unit_test(parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
