/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are read at one place: which of them go on to another. */
#include "flow/passage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define THREAD 7
#define OTHER 8

static struct flow_passage passage;

static void store(uint64_t pc)
{
	const struct flow_store made = {.known = true, .pc = pc};

	flow_passage_store(&passage, &made);
}

static int forget(void **state)
{
	(void)state;
	flow_passage_forget(&passage);
	return 0;
}

static void one_that_goes_on(void **state)
{
	(void)state;
	store(1);
	assert_false(flow_passage_read(&passage, THREAD));
	assert_true(flow_passage_arrive(&passage, THREAD, false));
	assert_int_equal(passage.origin.pc, 1);
	/* The same value again is no other. */
	assert_false(flow_passage_read(&passage, THREAD));
	assert_false(flow_passage_arrive(&passage, THREAD, false));
}

static void one_that_goes_elsewhere(void **state)
{
	(void)state;
	store(1);
	flow_passage_read(&passage, THREAD);
	store(2);
	assert_true(flow_passage_read(&passage, THREAD));
	assert_true(flow_passage_arrive(&passage, THREAD, false));
	assert_int_equal(passage.origin.pc, 2);
}

static void the_place_may_be_overwritten_before_it_arrives(void **state)
{
	(void)state;
	store(1);
	flow_passage_read(&passage, THREAD);
	store(2);
	assert_true(flow_passage_arrive(&passage, THREAD, false));
	assert_int_equal(passage.origin.pc, 1);
	assert_false(flow_passage_read(&passage, THREAD));
}

static void by_way_of_another_place(void **state)
{
	(void)state;
	store(1);
	flow_passage_read(&passage, THREAD);
	assert_false(flow_passage_arrive(&passage, THREAD, true));
	store(2);
	flow_passage_read(&passage, THREAD);
	flow_passage_next_store(&passage, THREAD, true, false);
	flow_passage_next_read(&passage, THREAD);
	assert_true(flow_passage_arrive(&passage, THREAD, true));
	assert_int_equal(passage.origin.pc, 2);
}

static void another_value_on_its_way(void **state)
{
	(void)state;
	store(1);
	flow_passage_read(&passage, THREAD);
	/* The pass that reaches the goal has not read at the place that is asked about. */
	flow_passage_next_store(&passage, THREAD, true, false);
	flow_passage_next_store(&passage, THREAD, true, false);
	flow_passage_next_read(&passage, THREAD);
	assert_false(flow_passage_arrive(&passage, THREAD, true));
}

static void what_another_thread_stores(void **state)
{
	(void)state;
	store(1);
	flow_passage_read(&passage, THREAD);
	assert_false(flow_passage_arrive(&passage, OTHER, false));
	assert_true(flow_passage_arrive(&passage, THREAD, false));
}

static void what_arrives_and_is_not_read_there(void **state)
{
	(void)state;
	store(1);
	flow_passage_read(&passage, THREAD);
	flow_passage_arrive(&passage, THREAD, false);
	flow_passage_wait(&passage);
	assert_true(flow_passage_overwrite(&passage));
	assert_false(flow_passage_goal_read(&passage));
	store(2);
	flow_passage_read(&passage, THREAD);
	flow_passage_arrive(&passage, THREAD, false);
	flow_passage_wait(&passage);
	assert_true(flow_passage_goal_read(&passage));
	assert_int_equal(passage.waiting.pc, 2);
}

static void what_is_not_known_goes_nowhere(void **state)
{
	(void)state;
	flow_passage_read(&passage, THREAD);
	assert_false(flow_passage_arrive(&passage, THREAD, false));
}

static void copied_in_two_overlapping_parts(void **state)
{
	(void)state;
	store(1);
	flow_passage_read(&passage, THREAD);
	flow_passage_next_store(&passage, THREAD, true, true);
	flow_passage_next_store(&passage, THREAD, true, true);
	flow_passage_next_read(&passage, THREAD);
	assert_true(flow_passage_arrive(&passage, THREAD, true));
}

static void what_was_stored_elsewhere_does_not_arrive(void **state)
{
	(void)state;
	store(1);
	flow_passage_read(&passage, THREAD);
	flow_passage_drop(&passage, OTHER);
	flow_passage_drop(&passage, THREAD);
	assert_false(flow_passage_arrive(&passage, THREAD, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_that_goes_on, forget),
		cmocka_unit_test_setup(one_that_goes_elsewhere, forget),
		cmocka_unit_test_setup(the_place_may_be_overwritten_before_it_arrives, forget),
		cmocka_unit_test_setup(by_way_of_another_place, forget),
		cmocka_unit_test_setup(another_value_on_its_way, forget),
		cmocka_unit_test_setup(what_another_thread_stores, forget),
		cmocka_unit_test_setup(what_arrives_and_is_not_read_there, forget),
		cmocka_unit_test_setup(what_is_not_known_goes_nowhere, forget),
		cmocka_unit_test_setup(copied_in_two_overlapping_parts, forget),
		cmocka_unit_test_setup(what_was_stored_elsewhere_does_not_arrive, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
