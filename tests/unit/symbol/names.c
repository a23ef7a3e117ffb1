/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of C++ are found by their names in the symbol table, and nothing else is taken for
 * them: what stands within one, and what the compiler makes for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "confined.h"

#include "names.h"

#include "symbol/lookup.h"

#include <stdbool.h>
#include <unistd.h>

struct names {
	struct symbol_session *session;
	struct symbol_modules *modules;
};

static int set_up(void **state)
{
	static struct names names;

	*state = &names;
	return symbol_session_open(&names.session, test_options()) ||
	       symbol_modules_of_process(names.session, getpid(), &names.modules);
}

static int tear_down(void **state)
{
	struct names *names = *state;

	symbol_modules_close(names->modules);
	symbol_session_close(names->session);
	return 0;
}

static bool find(void **state, const char *name, struct symbol_found *found)
{
	struct names *names = *state;
	char error[SYMBOL_ERROR_MAX];

	return symbol_lookup(names->modules, NULL, name, found, error) == 0;
}

static void what_stands_within_a_function_is_not_the_function(void **state)
{
	struct symbol_found found;

	assert_true(find(state, "names::outer", &found));
	assert_true(found.function);
	assert_int_equal(found.address, names_outer());
	assert_int_equal(found.overload[0], names_outer());
	assert_int_equal(found.overload[1], 0);
}

static void a_thunk_is_not_its_function(void **state)
{
	struct symbol_found found;

	assert_true(find(state, "names::both::put", &found));
	assert_true(found.function);
	assert_int_equal(found.overload[1], 0);
	assert_false(find(state, "names::both", &found));
}

static void overloads_are_all_found(void **state)
{
	struct symbol_found found;

	assert_true(find(state, "names::overloaded", &found));
	assert_int_not_equal(found.overload[1], 0);
	assert_int_equal(found.overload[2], 0);
}

static void a_name_may_end_as_an_operator_begins(void **state)
{
	struct symbol_found found;

	assert_true(find(state, "names::my_operator", &found));
	assert_int_equal(found.address, names_operator());
	assert_true(find(state, "my_operator", &found));
	assert_int_equal(found.address, names_operator());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_within_a_function_is_not_the_function),
		cmocka_unit_test(a_thunk_is_not_its_function),
		cmocka_unit_test(overloads_are_all_found),
		cmocka_unit_test(a_name_may_end_as_an_operator_begins),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
