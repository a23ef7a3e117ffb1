/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted of the places in memory that the program can write to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "control/state.h"
#include "watch/filter.h"
#include "watch/state.h"

static struct area_process shared;
static struct control control;
static struct target target = {.pid = 7, .shared = &shared};
static struct watched process = {.pid = 7};
static struct place place;
static struct watch watch = {.control = &control, .program = &control.program};

static void has_come_by(unsigned index, uint64_t times)
{
	atomic_store(&shared.filter.place[index].key, 1);
	atomic_store(&shared.filter.place[index].count, times);
}

static void a_place_that_nobody_taught_counts_nothing(void **state)
{
	(void)state;
	control.program.target[0] = &target;
	has_come_by(3, 5);
	filter_collect(&watch, &process, -1);
	filter_collect(&watch, &process, 0);
}

static void a_place_that_was_taught_is_counted(void **state)
{
	(void)state;
	control.program.target[0] = &target;
	watch.place = &place;
	watch.places = 1;
	process.taught[4] = (struct taught){.known = true, .slot = 2, .place = 0};
	has_come_by(3, 5);
	has_come_by(4, 6);
	filter_collect(&watch, &process, -1);
	assert_int_equal(place.count, 6);
	assert_int_equal(watch.wanted[0].shown, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_that_nobody_taught_counts_nothing),
		cmocka_unit_test(a_place_that_was_taught_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
