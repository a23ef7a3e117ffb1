/* SPDX-License-Identifier: Apache-2.0 */
/* Of several watches of a tool one has ended, and the others are hit still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "placed/deaf.h"

#define OWNER 1
#define HITS 48
#define NOW 1000000u

static struct program program;
static struct target target, other;
static struct area_process shared, other_shared;

static void place(struct target *at, unsigned index, unsigned owner)
{
	at->slot[index] =
		(struct slot){.index = index, .owner = owner, .armed = owner, .watch.hits = HITS};
}

/* Slot 0 is for what strategies choose; the tool's watches are behind it, and a third tool's. */
static int set_up(void **state)
{
	(void)state;
	memset(&program, 0, sizeof(program));
	memset(&target, 0, sizeof(target));
	memset(&shared, 0, sizeof(shared));
	memset(&other_shared, 0, sizeof(other_shared));
	target.shared = &shared;
	other = target;
	other.shared = &other_shared;
	target.slots = 1;
	target.placed = 3;
	other.placed = 1;
	program.target[0] = &target;
	program.target[5] = &other;
	place(&target, 0, 0);
	place(&target, 1, OWNER);
	place(&target, 2, OWNER);
	place(&target, 3, OWNER + 1);
	place(&other, 0, OWNER);
	return 0;
}

/* Of the process's hits so many had been dropped when this one's handler began. */
static bool is_deaf_behind(uint64_t entry_time, uint64_t lost, uint32_t flags)
{
	const struct area_hit record = {
		.process = 0, .entry_time = entry_time, .lost = lost, .flags = flags};

	return placed_is_deaf(&program, &target.slot[1], &record);
}

static bool is_deaf(uint64_t entry_time)
{
	return is_deaf_behind(entry_time, 0, 0);
}

static void all_are_armed(void **state)
{
	(void)state;
	assert_false(is_deaf(NOW));
}

static void silence(struct slot *slot)
{
	slot->armed = false;
	slot->silenced_at = NOW;
}

static void what_comes_behind_the_end_of_another(void **state)
{
	(void)state;
	silence(&target.slot[2]);
	assert_false(is_deaf(NOW - 1));
	assert_true(is_deaf(NOW));
	/* The tool has been told. */
	target.slot[2].owner = 0;
	assert_false(is_deaf(NOW));
}

static void its_own_end_and_another_tool_s_do_not_count(void **state)
{
	(void)state;
	silence(&target.slot[1]);
	silence(&target.slot[3]);
	assert_false(is_deaf(NOW + 1));
}

static void one_in_another_process(void **state)
{
	(void)state;
	silence(&other.slot[0]);
	assert_true(is_deaf(NOW));
}

static void one_that_takes_no_more_hits(void **state)
{
	(void)state;
	target.slot[2].seen = HITS - 1;
	atomic_store(&shared.slot[2].hits, HITS);
	assert_false(is_deaf(NOW));
	target.slot[2].seen = HITS;
	assert_true(is_deaf(NOW));
	target.slot[2].seen = 0;
	target.slot[1].seen = HITS;
	assert_false(is_deaf(NOW));
}

/* The watch has room for two more hits, and of those that were dropped each may have been one. */
static void lose(uint32_t dropped)
{
	target.slot[2].seen = HITS - 2;
	target.slot[2].dropped = target.slot[1].dropped = 3;
	atomic_store(&shared.dropped, 3 + dropped);
	atomic_store(&shared.slot[2].hits, HITS);
}

static void one_whose_hits_were_lost_and_which_takes_no_more(void **state)
{
	(void)state;
	lose(2);
	assert_true(is_deaf_behind(NOW, 5, 0));
	/* It takes one more. */
	atomic_store(&shared.slot[2].hits, HITS - 1);
	assert_false(is_deaf_behind(NOW, 5, 0));
}

/* A batch is told when all of it has come: what was lost at its end is no matter at its beginning.
 */
static void what_came_before_hits_were_lost(void **state)
{
	(void)state;
	lose(2);
	assert_false(is_deaf_behind(NOW, 3, 0));
	assert_false(is_deaf_behind(NOW, 4, 0));
	/* It is not known whether they were before it. */
	assert_true(is_deaf_behind(NOW, 3, AREA_HIT_LOSS));
}

static void more_were_told_than_it_can_have_lost(void **state)
{
	(void)state;
	lose(1);
	assert_false(is_deaf_behind(NOW, 4, 0));
	target.slot[2].seen++;
	assert_true(is_deaf_behind(NOW, 4, 0));
}

static void one_in_another_process_whose_hits_were_lost(void **state)
{
	(void)state;
	other.slot[0].seen = HITS - 1;
	atomic_store(&other_shared.slot[0].hits, HITS);
	assert_false(is_deaf(NOW));
	atomic_store(&other_shared.dropped, 1);
	assert_true(is_deaf(NOW));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_are_armed, set_up),
		cmocka_unit_test_setup(what_comes_behind_the_end_of_another, set_up),
		cmocka_unit_test_setup(its_own_end_and_another_tool_s_do_not_count, set_up),
		cmocka_unit_test_setup(one_in_another_process, set_up),
		cmocka_unit_test_setup(one_that_takes_no_more_hits, set_up),
		cmocka_unit_test_setup(one_whose_hits_were_lost_and_which_takes_no_more, set_up),
		cmocka_unit_test_setup(what_came_before_hits_were_lost, set_up),
		cmocka_unit_test_setup(more_were_told_than_it_can_have_lost, set_up),
		cmocka_unit_test_setup(one_in_another_process_whose_hits_were_lost, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
