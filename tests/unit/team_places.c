/* SPDX-License-Identifier: Apache-2.0 */
/* Where two threads that begin a function together will conflict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "team/places.h"
#include <trapline/event.h>

#define MOST 8

/* Only team_sift() asks. */
bool space_mapping(struct space *space, uint64_t address, uint64_t *start, uint64_t *end)
{
	(void)space;
	*start = 0x1000;
	*end = 0x2000;
	return address < 0xa000;
}

ssize_t space_read(struct space *space, uint64_t address, void *to, size_t length)
{
	(void)space;
	(void)to;
	return address < 0xc000 ? (ssize_t)length : -1;
}

bool space_writable(struct space *space, uint64_t address)
{
	(void)space;
	return address < 0x9000;
}

static struct ahead_view one, other;
static struct team_place place[MOST];

static int begin(void **state)
{
	(void)state;
	one.accesses = other.accesses = 0;
	return 0;
}

static struct ahead_access *note(struct ahead_view *view, uint64_t pc, uint64_t address,
				 uint64_t length, unsigned access)
{
	struct ahead_access *noted = &view->access[view->accesses++];

	*noted = (struct ahead_access){
		.pc = pc, .address = address, .length = length, .access = access};
	return noted;
}

static void the_common_bytes_are_watched(void **state)
{
	(void)state;
	note(&one, 0x1000, 0x8000, 8, TL_READ);
	note(&one, 0x1004, 0x8010, 4, TL_READ);
	note(&other, 0x1008, 0x8004, 4, TL_WRITE);
	note(&other, 0x100c, 0x8010, 4, TL_READ);
	note(&other, 0x1010, 0x8020, 4, TL_WRITE);
	assert_int_equal(team_places(&one, &other, place, MOST), 1);
	assert_int_equal(place[0].address, 0x8004);
	assert_int_equal(place[0].length, 4);
}

static void atomic_operations_and_a_lock_in_common_are_none(void **state)
{
	(void)state;
	note(&one, 0x1000, 0x8000, 4, TL_READ | TL_WRITE | TL_ATOMIC);
	note(&other, 0x1000, 0x8000, 4, TL_READ | TL_WRITE | TL_ATOMIC);
	note(&one, 0x1004, 0x8008, 4, TL_WRITE)->lock[0] = 0x7000;
	note(&other, 0x1004, 0x8008, 4, TL_WRITE)->lock[1] = 0x7000;
	assert_int_equal(team_places(&one, &other, place, MOST), 0);
}

static void what_a_barrier_divides_is_none(void **state)
{
	(void)state;
	note(&one, 0x1000, 0x8000, 4, TL_WRITE);
	note(&other, 0x1004, 0x8000, 4, TL_READ)->phase = 1;
	assert_int_equal(team_places(&one, &other, place, MOST), 0);
	note(&one, 0x1008, 0x8000, 4, TL_WRITE)->phase = 1;
	assert_int_equal(team_places(&one, &other, place, MOST), 1);
}

static void a_lock_that_both_hold_for_reading_keeps_nobody_out(void **state)
{
	(void)state;
	note(&one, 0x1000, 0x8000, 4, TL_WRITE)->lock[0] = 0x7000 | AHEAD_SHARED;
	note(&other, 0x1000, 0x8000, 4, TL_WRITE)->lock[0] = 0x7000;
	assert_int_equal(team_places(&one, &other, place, MOST), 0);
	other.access[0].lock[0] |= AHEAD_SHARED;
	assert_int_equal(team_places(&one, &other, place, MOST), 1);
}

/* Each its half of a[i] = a[i + 1]: one comes to where the other began. */
static void walk(struct ahead_view *view, uint64_t from)
{
	for (unsigned i = 0; i < 3; i++) {
		note(view, 0x1000, from + 4 * i + 4, 4, TL_READ);
		note(view, 0x1004, from + 4 * i, 4, TL_WRITE);
	}
}

static void who_walks_comes_to_where_the_other_begins(void **state)
{
	(void)state;
	walk(&one, 0x8000);
	walk(&other, 0x8000 + 4 * 500);
	assert_int_equal(team_places(&one, &other, place, MOST), 1);
	assert_int_equal(place[0].address, 0x8000 + 4 * 500);
	assert_int_equal(team_places(&other, &one, place, MOST), 1);
	assert_int_equal(place[0].address, 0x8000 + 4 * 500);
}

/* a[i] = b[i]. */
static void parts_that_only_touch_are_none(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		note(&one, 0x1000, 0x8000 + 4 * i, 4, TL_WRITE);
		note(&other, 0x1000, 0x8100 + 4 * i, 4, TL_WRITE);
		note(&one, 0x1004, 0x8200 + 4 * i, 4, TL_READ);
		note(&other, 0x1004, 0x8300 + 4 * i, 4, TL_READ);
	}
	assert_int_equal(team_places(&one, &other, place, MOST), 0);
	assert_int_equal(team_writes(&one, place, MOST), 3);
}

static void only_the_programs_code_and_writable_memory_count(void **state)
{
	const struct ahead_access new = {.address = 0xb000, .length = 4},
				  none = {.address = 0xd000, .length = 4};

	(void)state;
	assert_true(team_may_share(NULL, &new)); /* mapped since the map was read */
	assert_false(team_may_share(NULL, &none));
	note(&one, 0x1000, 0x9000, 4, TL_READ);
	note(&one, 0x3000, 0x8000, 4, TL_WRITE);
	note(&one, 0x1004, 0x8000, 4, TL_WRITE);
	team_sift(NULL, 0x1000, &one);
	assert_int_equal(one.accesses, 1);
	assert_int_equal(one.access[0].pc, 0x1004);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_common_bytes_are_watched, begin),
		cmocka_unit_test_setup(atomic_operations_and_a_lock_in_common_are_none, begin),
		cmocka_unit_test_setup(what_a_barrier_divides_is_none, begin),
		cmocka_unit_test_setup(a_lock_that_both_hold_for_reading_keeps_nobody_out, begin),
		cmocka_unit_test_setup(who_walks_comes_to_where_the_other_begins, begin),
		cmocka_unit_test_setup(parts_that_only_touch_are_none, begin),
		cmocka_unit_test_setup(only_the_programs_code_and_writable_memory_count, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
