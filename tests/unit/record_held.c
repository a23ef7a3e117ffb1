/* SPDX-License-Identifier: Apache-2.0 */
/* Which records say that a thread is held, and of whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "record/held.h"

enum { MINE = 3, OTHERS = 4, LAST = AREA_HITS - 1 };

static struct area *area;

static bool is_of_thread(const struct area_hit *record, const void *wanted)
{
	return record->tid == *(const pid_t *)wanted;
}

/* As a thread does, up to `state`. */
static struct area_hit *put(unsigned index, uint32_t process, pid_t tid, enum area_hit_state state)
{
	struct area_hit *record = &area->hit[index];

	record->tid = tid;
	atomic_store(&record->state, 7ull << 16 | (uint64_t)process << 8 | state);
	return record;
}

static bool holds(uint32_t process, pid_t tid)
{
	return area_holds(area, process, is_of_thread, &tid);
}

static int set_up(void **state)
{
	(void)state;
	area = calloc(1, sizeof(*area));
	return area ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(area);
	return 0;
}

static void test_nobody(void **state)
{
	(void)state;
	assert_false(holds(0, 0));
	assert_false(holds(MINE, 11));
}

static void test_states(void **state)
{
	static const enum area_hit_state others[] = {AREA_HIT_FREE, AREA_HIT_FILLING,
						     AREA_HIT_LEAVING, AREA_HIT_DONE};

	(void)state;
	assert_true(area_hit_is_held(put(LAST, MINE, 11, AREA_HIT_HELD)));
	assert_true(holds(MINE, 11));
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_false(area_hit_is_held(put(LAST, MINE, 11, others[i])));
		assert_false(holds(MINE, 11));
	}
}

static void test_whose(void **state)
{
	(void)state;
	put(0, MINE, 11, AREA_HIT_DONE);
	put(1, OTHERS, 11, AREA_HIT_HELD);
	put(2, MINE, 12, AREA_HIT_HELD);
	assert_false(holds(MINE, 11));
	assert_true(holds(OTHERS, 11));
	assert_true(holds(MINE, 12));
	/* An earlier hit of the same thread hides no later one. */
	put(3, MINE, 11, AREA_HIT_HELD);
	assert_true(holds(MINE, 11));
}

static bool is_used_anew(const struct area_hit *record, const void *wanted)
{
	(void)wanted;
	put((unsigned)(record - area->hit), MINE, 13, AREA_HIT_HELD);
	atomic_fetch_add(&area->hit[record - area->hit].state, 1 << 16);
	return true;
}

/* What was compared belongs to a use of the record that is over. */
static void test_used_anew_meanwhile(void **state)
{
	(void)state;
	put(0, MINE, 11, AREA_HIT_HELD);
	assert_false(area_holds(area, MINE, is_used_anew, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_states, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_whose, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_used_anew_meanwhile, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
