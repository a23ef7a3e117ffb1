/* SPDX-License-Identifier: Apache-2.0 */
/* Under which filters handlers make system calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/seccomp.h>

#include "process/restriction.h"

static bool is_on(int mode, int filters, int inherited)
{
	return restriction_is_on(&(struct restriction){mode, filters}, inherited);
}

static void without_filters_there_is_none(void **state)
{
	(void)state;
	assert_false(is_on(SECCOMP_MODE_DISABLED, 0, 0));
}

static void what_is_inherited_is_known(void **state)
{
	(void)state;
	assert_false(is_on(SECCOMP_MODE_FILTER, 1, 1));
	assert_false(is_on(SECCOMP_MODE_FILTER, 2, 2));
}

static void what_was_added_is_not(void **state)
{
	(void)state;
	assert_true(is_on(SECCOMP_MODE_FILTER, 1, 0));
	assert_true(is_on(SECCOMP_MODE_FILTER, 3, 2));
}

static void an_old_kernel_does_not_count(void **state)
{
	(void)state;
	assert_true(is_on(SECCOMP_MODE_FILTER, 0, 0));
	assert_true(is_on(SECCOMP_MODE_FILTER, 0, 1));
}

static void strict_mode_is_always(void **state)
{
	(void)state;
	assert_true(is_on(SECCOMP_MODE_STRICT, 0, 0));
	assert_true(is_on(SECCOMP_MODE_STRICT, 1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_filters_there_is_none),
		cmocka_unit_test(what_is_inherited_is_known),
		cmocka_unit_test(what_was_added_is_not),
		cmocka_unit_test(an_old_kernel_does_not_count),
		cmocka_unit_test(strict_mode_is_always),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
