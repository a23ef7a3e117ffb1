/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions print. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "libc/c_output.h"

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
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
