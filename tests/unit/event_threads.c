/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of threads: what a few of them hold needs no memory from the kernel, what many or large ones
 * hold is theirs alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/threads.h"

#include <sys/resource.h>

#define SETS 40	   /* more than there are pieces for */
#define LARGE 5000 /* threads of one set: it grows twice by pages */
#define ROUNDS 100 /* pieces come back, else they were used up in some */

static void add_some(struct thread_set *set, pid_t first, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(thread_set_add(set, first + (pid_t)i), 0);
}

static void assert_some(const struct thread_set *set, pid_t first, size_t count)
{
	assert_int_equal(set->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(set->tids[i], first + (pid_t)i);
}

static void test_short_without_memory(void **state)
{
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct thread_set set = {0}, other = {0};

		add_some(&set, 1, 8);
		add_some(&other, 100, 8);
		assert_some(&set, 1, 8);
		assert_some(&other, 100, 8);
		thread_set_destroy(&set);
		thread_set_destroy(&other);
	}
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

static void test_many_at_once(void **state)
{
	struct thread_set set[SETS] = {0};

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < SETS; i++)
			add_some(&set[i], 1000 * i + 1, 30);
		for (int i = 0; i < SETS; i++)
			assert_some(&set[i], 1000 * i + 1, 30);
		for (int i = 0; i < SETS; i++)
			thread_set_destroy(&set[i]);
	}
}

static void test_large(void **state)
{
	struct thread_set set = {0}, other = {0};

	(void)state;
	add_some(&set, 1, LARGE);
	add_some(&other, 9, 3);
	assert_some(&set, 1, LARGE);
	assert_some(&other, 9, 3);
	thread_set_destroy(&set);
	assert_null(set.tids);
	assert_some(&other, 9, 3);
	thread_set_destroy(&other);
	thread_set_destroy(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_without_memory),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
