/* SPDX-License-Identifier: Apache-2.0 */
/* Which strings calls of the C library's functions read in any case. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "libc/c_given.h"

#define FORMAT 0x1000u

static int read_text(void *context, uint64_t address, void *to, size_t length)
{
	const char *text = context;

	if (!text || address < FORMAT || address - FORMAT + length > strlen(text) + 1)
		return -EFAULT;
	memcpy(to, text + (address - FORMAT), length);
	return 0;
}

static unsigned given(const char *symbol, int place, const char *format)
{
	struct symbol_memory memory = {read_text, (void *)format};
	uint64_t argument[C_GIVEN] = {1, 2, 3, 4, 5, 6};

	argument[place] = FORMAT;
	return c_given_strings(symbol, argument, 0x3f, &memory);
}

static void functions(void **state)
{
	(void)state;
	assert_int_equal(given("puts", 5, NULL), 1);
	assert_int_equal(given("_IO_puts", 5, NULL), 1);
	assert_int_equal(given("strcpy", 5, NULL), 2);
	assert_int_equal(given("strncpy", 5, NULL), 0);
	assert_int_equal(given("my_puts", 5, NULL), 0);
	assert_int_equal(given("__GI_strlen", 5, NULL), 1);
	assert_int_equal(given("GI_puts", 5, NULL), 0);
}

static void formats(void **state)
{
	(void)state;
	assert_int_equal(given("printf", 0, "%s"), 3);
	assert_int_equal(given("__printf_chk", 1, "%d %5s %-*s"), 2 | 8 | 32);
	assert_int_equal(given("fprintf", 1, "%f%% %ld %s"), 2 | 8);
	assert_int_equal(given("snprintf", 2, "%p%s%s%s"), 4 | 16 | 32);
	/* Perhaps no byte, wide characters, what is not known. */
	assert_int_equal(given("printf", 0, "%.0s %.*s %s"), 1);
	assert_int_equal(given("printf", 0, "%.3s %ls %s"), 1 | 8);
	assert_int_equal(given("printf", 0, "%2$s %s"), 1);
	assert_int_equal(given("printf", 0, "%y %s"), 1);
	assert_int_equal(given("printf", 0, "%"), 1);
	assert_int_equal(given("printf", 0, NULL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions),
		cmocka_unit_test(formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
