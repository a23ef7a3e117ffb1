/* SPDX-License-Identifier: Apache-2.0 */
/* Which freed blocks who maps memory has to look at: never too few, and none that is far away. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "guard/guard.h"

#define HEAP (1ull << 40) /* where blocks are, in no memory that there is */

static uint32_t freed(uint64_t address, struct guard_record record)
{
	uint32_t place = guard_claim(address);

	assert_int_not_equal(place, GUARD_NOWHERE);
	guard_table.record[place] = record;
	assert_true(guard_change(place, GUARD_BUSY, GUARD_LIVE));
	assert_true(guard_change(place, GUARD_LIVE, GUARD_DYING));
	assert_true(guard_change(place, GUARD_DYING, GUARD_DEAD));
	return place;
}

static bool may_reach(uint32_t place, uint64_t from, uint64_t to)
{
	return guard_may_reach(guard_table.entry[place], from, to);
}

static void is_reached_everywhere(uint32_t place)
{
	struct guard_ground ground = guard_ground(&guard_table.record[place]);
	uint64_t end = ground.start + ground.length;

	for (uint64_t at = ground.start; at < end; at += 8)
		assert_true(may_reach(place, at, at + 1));
	assert_true(may_reach(place, end - 1, end));
	assert_true(may_reach(place, 0, INT64_MAX));
	assert_true(may_reach(place, 0, ground.start + 1));
	assert_true(may_reach(place, end - 1, INT64_MAX));
}

static void test_ground(void **state)
{
	uint32_t small, aligned, run;

	(void)state;
	small = freed(HEAP + 16, (struct guard_record){.raw = HEAP, .room = 64});
	assert_false(may_reach(small, HEAP + 80, HEAP + 4096));
	assert_false(may_reach(small, 0, HEAP - 48));
	is_reached_everywhere(small);
	aligned = freed(HEAP + 4096 + 4096,
			(struct guard_record){.raw = HEAP + 4096, .room = 4096 + 128});
	is_reached_everywhere(aligned);
	run = freed(HEAP + (1 << 20) + 4096 - 32,
		    (struct guard_record){.raw = HEAP + (1 << 20) + 4000,
					  .room = 96,
					  .run = HEAP + (1 << 20),
					  .pages = 1});
	is_reached_everywhere(run);
	/* It does not stay the longest one. */
	is_reached_everywhere(small);
	assert_false(may_reach(small, HEAP + (1 << 20), HEAP + (1 << 21)));
	assert_false(may_reach(run, HEAP, HEAP + 65536));
}

static void test_states(void **state)
{
	uint32_t place = freed(HEAP + (1 << 24),
			       (struct guard_record){.raw = HEAP + (1 << 24) - 16, .room = 64});

	(void)state;
	assert_true(guard_change(place, GUARD_DEAD, GUARD_LEAVING));
	assert_false(may_reach(place, HEAP + (1 << 24), HEAP + (1 << 24) + 1));
	guard_drop(place);
	assert_false(may_reach(place, 0, INT64_MAX));
}

/* Around which addresses a block is found: those of its room, as far as it begins not long before.
 */
static void test_around(void **state)
{
	const uint64_t at = HEAP + (1 << 26);
	uint32_t odd = freed(at, (struct guard_record){.raw = at - 16, .size = 45, .room = 75});
	uint32_t large = freed(at + 4096, (struct guard_record){.raw = at + 4080, .room = 65536});

	(void)state;
	assert_int_equal(guard_find_around(at, false), odd);
	assert_int_equal(guard_find_around(at + 16, false), odd);
	assert_int_equal(guard_find_around(at + 58, false), odd);
	assert_int_equal(guard_find_around(at + 59, false), GUARD_NOWHERE);
	assert_int_equal(guard_find_around(at + 64, false), GUARD_NOWHERE);
	assert_int_equal(guard_find_around(at + 4096 + 1008, false), large);
	assert_int_equal(guard_find_around(at + 4096 + 30000, false), GUARD_NOWHERE);
	assert_int_equal(guard_find_around(at + 4096 + 30000, true), large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ground),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
