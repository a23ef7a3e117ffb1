/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are stored at one place: which of them come from another. */
#include "flow/onward.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define THREAD 7
#define OTHER 8

static struct flow_onward onward;

static int forget(void **state)
{
	(void)state;
	flow_onward_forget(&onward, true);
	return 0;
}

static bool arrive(uint64_t thread)
{
	return flow_onward_arrive(&onward, thread, true, true, true);
}

static void what_was_read_is_stored(void **state)
{
	(void)state;
	flow_onward_origin_read(&onward, THREAD, false);
	assert_false(arrive(THREAD));
	assert_true(onward.holds);
	/* Again, without another load: it cannot be that value for certain. */
	assert_true(arrive(THREAD));
	assert_false(onward.holds);
}

static void another_thread_has_read_it(void **state)
{
	(void)state;
	arrive(THREAD);
	flow_onward_origin_read(&onward, OTHER, false);
	assert_true(arrive(THREAD));
	assert_false(onward.holds);
}

static void the_origin_is_of_another_writer(void **state)
{
	(void)state;
	flow_onward_origin_read(&onward, THREAD, false);
	onward.filled = false;
	flow_onward_origin_read(&onward, THREAD, false);
	arrive(THREAD);
	assert_false(onward.holds);
}

static void another_value_is_stored(void **state)
{
	(void)state;
	arrive(THREAD);
	flow_onward_origin_read(&onward, THREAD, false);
	assert_true(flow_onward_arrive(&onward, THREAD, true, false, true));
	assert_false(onward.holds);
	/* By other code: nothing passes through. */
	assert_false(flow_onward_arrive(&onward, THREAD, false, false, true));
}

static void copied_in_two_overlapping_parts(void **state)
{
	(void)state;
	flow_onward_origin_read(&onward, THREAD, false);
	flow_onward_arrive(&onward, THREAD, true, true, false);
	assert_false(flow_onward_arrive(&onward, THREAD, true, true, false));
	assert_true(onward.holds);
}

static void copied_so_by_way_of_the_next_place(void **state)
{
	(void)state;
	flow_onward_origin_read(&onward, THREAD, true);
	flow_onward_next_store(&onward, THREAD, true, false);
	flow_onward_next_store(&onward, THREAD, true, false);
	flow_onward_next_read(&onward, THREAD);
	flow_onward_arrive(&onward, THREAD, true, true, false);
	assert_true(onward.holds);
}

static void from_one_thread_to_another_by_the_next_place(void **state)
{
	(void)state;
	flow_onward_origin_read(&onward, THREAD, true);
	assert_int_equal(onward.taken, 0);
	flow_onward_next_store(&onward, THREAD, true, true);
	flow_onward_next_read(&onward, OTHER);
	arrive(OTHER);
	assert_true(onward.holds);
}

static void the_next_place_gets_another_value(void **state)
{
	(void)state;
	flow_onward_origin_read(&onward, THREAD, true);
	flow_onward_next_store(&onward, THREAD, true, true);
	flow_onward_next_store(&onward, THREAD, true, true);
	flow_onward_next_read(&onward, THREAD);
	arrive(THREAD);
	assert_false(onward.holds);
}

static void another_load_comes_between(void **state)
{
	(void)state;
	flow_onward_origin_read(&onward, THREAD, false);
	flow_onward_drop(&onward, OTHER);
	flow_onward_drop(&onward, THREAD);
	arrive(THREAD);
	assert_false(onward.holds);
}

/* The first store after something may have been lost is of nobody knows what. */
static void what_is_not_known_is_no_other_value(void **state)
{
	(void)state;
	assert_false(arrive(THREAD));
	assert_true(arrive(THREAD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_was_read_is_stored, forget),
		cmocka_unit_test_setup(another_thread_has_read_it, forget),
		cmocka_unit_test_setup(the_origin_is_of_another_writer, forget),
		cmocka_unit_test_setup(another_value_is_stored, forget),
		cmocka_unit_test_setup(copied_in_two_overlapping_parts, forget),
		cmocka_unit_test_setup(copied_so_by_way_of_the_next_place, forget),
		cmocka_unit_test_setup(from_one_thread_to_another_by_the_next_place, forget),
		cmocka_unit_test_setup(the_next_place_gets_another_value, forget),
		cmocka_unit_test_setup(another_load_comes_between, forget),
		cmocka_unit_test_setup(what_is_not_known_is_no_other_value, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
