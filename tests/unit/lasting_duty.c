/* SPDX-License-Identifier: Apache-2.0 */
/* What a watch that rests is taken to have missed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "lasting/duty.h"
#include "lasting/lasting.h"
#include "process/space.h"
#include "reader/open.h"

static volatile uint64_t counter;

struct bench {
	struct program program;
	struct lasting lasting;
	struct target target;
	struct area_process shared;
	struct duty duty[AREA_WATCHES];
};

/* A slot at rest, each of whose hits added one, and at whose address the value is 100 more. */
static int set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	counter = 105;
	bench->lasting.duty = true;
	bench->program.lasting = &bench->lasting;
	bench->program.target[0] = &bench->target;
	assert_int_equal(symbol_session_open(&bench->program.session, NULL), 0);
	bench->target.program = &bench->program;
	bench->target.pid = getpid();
	bench->target.shared = &bench->shared;
	bench->target.slots = AREA_SLOTS;
	bench->target.duty = bench->duty;
	assert_int_equal(space_open(&bench->target.space, bench->program.session, getpid()), 0);
	bench->shared.slot[0].values = 1;
	bench->target.slot[0].armed = bench->target.slot[0].resting = true;
	bench->target.slot[0].watch =
		(struct tl_watch){.address = (uintptr_t)&counter, .length = sizeof(counter)};
	bench->duty[0] = (struct duty){.stride = 1, .value = 5};
	*state = bench;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *bench = *state;

	space_close(bench->target.space);
	symbol_session_close(bench->program.session);
	free(bench);
	return 0;
}

static void a_counter_tells_how_often_it_was_counted(void **state)
{
	struct bench *bench = *state;
	struct lasting_estimate estimate;

	lasting_estimate(&bench->program, getpid(), 0, &estimate);
	assert_int_equal(estimate.hits, 100);
}

/* The address is the last hit's: another thread's counter is elsewhere. */
static void one_threads_counter_tells_nothing_of_all(void **state)
{
	struct bench *bench = *state;
	struct lasting_estimate estimate;

	bench->target.slot[0].each_thread = true;
	lasting_estimate(&bench->program, getpid(), 0, &estimate);
	assert_int_equal(estimate.hits, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_counter_tells_how_often_it_was_counted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_threads_counter_tells_nothing_of_all, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
