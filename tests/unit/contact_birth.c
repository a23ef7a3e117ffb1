/* SPDX-License-Identifier: Apache-2.0 */
/* Which births of threads are told, and what is told of one: in an area that this program makes
 * itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "agent/permitted.h"
#include "agent/state.h"
#include "contact/birth.h"

struct agent_state agent_state;
static uint64_t now;

/* In place of src/agent. */
uint64_t agent_now(void)
{
	return now += 1000000;
}

bool permitted(long number)
{
	(void)number;
	return true;
}

static int begin(void **state)
{
	(void)state;
	agent_state.area = calloc(1, sizeof(struct area));
	assert_non_null(agent_state.area);
	agent_state.process = &agent_state.area->process[3];
	agent_state.index = 3;
	agent_state.hold_most = AREA_BIRTH_WAIT;
	agent_state.process->pid = getpid();
	agent_state.process->newborn.wish = AREA_BIRTHS_ASKED;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(agent_state.area);
	return 0;
}

static unsigned wanted(uint64_t start, unsigned times)
{
	unsigned count = 0;

	for (unsigned i = 0; i < times; i++)
		count += agent_birth_is_wanted(start);
	return count;
}

static void each_function_is_told_so_often(void **state)
{
	const struct area_births *births = &agent_state.process->newborn;

	(void)state;
	assert_int_equal(wanted(0x1000, AREA_BIRTHS_TOLD + 5), AREA_BIRTHS_TOLD);
	assert_int_equal(births->passed, 5);
	for (unsigned i = 1; i < AREA_ROUTINES; i++)
		assert_int_equal(wanted(0x1000 + i, 1), 1);
	/* There is no room for another. */
	assert_int_equal(wanted(0x9000, 2), 0);
	assert_int_equal(births->passed, 7);
}

static void nothing_is_told_that_is_not_asked_for(void **state)
{
	(void)state;
	agent_state.process->newborn.wish = AREA_BIRTHS_NEVER;
	assert_int_equal(wanted(0x1000, 1), 0);
	assert_int_equal(agent_state.process->newborn.passed, 0);
	agent_state.process->newborn.wish = AREA_BIRTHS_NOT_NOW;
	assert_int_equal(wanted(0x1000, 3), 0);
	assert_int_equal(agent_state.process->newborn.passed, 3);
	agent_state.process->newborn.wish = AREA_BIRTHS_ASKED;
	assert_int_equal(wanted(0, 1), 0);
	/* The program has set a filter, which may end who sleeps. */
	agent_state.process->quiet = 1;
	assert_int_equal(wanted(0x1000, 1), 0);
	assert_int_equal(agent_state.process->newborn.passed, 3);
}

static void *set(void *word)
{
	__atomic_store_n((uint32_t *)word, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void nobody_waits_for_a_thread_that_gets_no_processor(void **state)
{
	uint32_t word = 0;
	pthread_t thread;

	(void)state;
	assert_false(agent_birth_await(&word));
	assert_in_range(agent_state.process->held, AREA_BIRTH_WAIT, 100 * AREA_BIRTH_WAIT);
	assert_int_equal(pthread_create(&thread, NULL, set, &word), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(agent_birth_await(&word));
}

static void who_waits_goes_on_in_time(void **state)
{
	struct area_registers registers = {.pc = 0x1000};
	const struct area_hit *record;
	struct agent_birth birth;

	(void)state;
	assert_true(agent_birth_tell(AREA_HIT_NEWBORN, &registers, &birth));
	record = birth.record;
	assert_int_equal(area_hit_state(record->state), AREA_HIT_HELD);
	assert_int_equal(area_hit_owner(record->state), 3);
	assert_int_equal(record->flags, AREA_HIT_NEWBORN);
	assert_int_equal(record->registers.pc, 0x1000);
	assert_int_equal(record->tid, gettid());
	agent_birth_wait(&birth);
	assert_int_equal(area_hit_state(record->state), AREA_HIT_DONE);
	assert_int_equal(agent_state.process->newborn.wish, AREA_BIRTHS_NOT_NOW);
	assert_in_range(agent_state.process->held, AREA_BIRTH_WAIT, 2 * AREA_BIRTH_WAIT);
}

static void nobody_tells_for_another_process_or_where_no_call_may_be_made(void **state)
{
	struct area_registers registers = {0};
	struct agent_birth birth;

	(void)state;
	agent_state.process->pid = getpid() + 1;
	assert_false(agent_birth_tell(AREA_HIT_CREATOR, &registers, &birth));
	agent_state.process->pid = getpid();
	agent_state.process->quiet = 1;
	assert_false(agent_birth_tell(AREA_HIT_CREATOR, &registers, &birth));
	agent_state.process->quiet = 0;
	area_close(agent_state.area);
	assert_false(agent_birth_tell(AREA_HIT_CREATOR, &registers, &birth));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_function_is_told_so_often, begin, end),
		cmocka_unit_test_setup_teardown(nothing_is_told_that_is_not_asked_for, begin, end),
		cmocka_unit_test_setup_teardown(nobody_waits_for_a_thread_that_gets_no_processor,
						begin, end),
		cmocka_unit_test_setup_teardown(who_waits_goes_on_in_time, begin, end),
		cmocka_unit_test_setup_teardown(
			nobody_tells_for_another_process_or_where_no_call_may_be_made, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
