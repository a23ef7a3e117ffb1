/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the watched program are kept once each, and only so many of them. */
#include "session/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LONG 65536 /* bytes: a path may be 4,096, a demangled name longer */

static void each_is_kept_once(void **state)
{
	struct symbol_strings strings = {0};
	char copy[] = "name";
	const char *kept = symbol_strings_keep(&strings, "name");

	(void)state;
	assert_string_equal(kept, "name");
	assert_ptr_equal(symbol_strings_keep(&strings, copy), kept);
	assert_null(symbol_strings_keep(&strings, NULL));
	symbol_strings_free(&strings);
}

static void no_more_than_so_many(void **state)
{
	struct symbol_strings strings = {0};
	char *text = malloc(LONG + 1);
	unsigned most = SYMBOL_STRINGS_BYTES / LONG;
	const char *first = symbol_strings_keep(&strings, "first"), *left_out = NULL;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LONG);
	text[LONG] = '\0';
	for (unsigned i = 0; i < most + 10; i++) {
		snprintf(text, 16, "%u", i);
		text[strlen(text)] = 'x';
		left_out = symbol_strings_keep(&strings, text);
		assert_non_null(left_out);
	}
	assert_true(strings.bytes <= SYMBOL_STRINGS_BYTES);
	assert_true(strings.left_out >= 10);
	assert_string_equal(left_out, "(name left out)");
	assert_ptr_equal(symbol_strings_keep(&strings, "first"), first);
	free(text);
	symbol_strings_free(&strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_kept_once),
		cmocka_unit_test(no_more_than_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
