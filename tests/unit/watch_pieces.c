/* SPDX-License-Identifier: Apache-2.0 */
/* What gives a slot back, and whose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "control/state.h"
#include "watch/piece.h"
#include "watch/state.h"

static struct control control;
static struct watched process;
static struct watch watch;
static struct area_process shared;
static struct target target = {.pid = 7, .program = &control.program, .shared = &shared};
static unsigned notices;

/* A variable's, a heap block's and a scout, which is of no expression. */
static int set_up(void **state)
{
	(void)state;
	memset(&watch, 0, sizeof(watch));
	watch.control = &control;
	watch.program = &control.program;
	process = (struct watched){
		.pid = 7,
		.piece = {
			{.armed = true, .start = 64, .address = 64, .length = 8},
			{.armed = true, .start = 4104, .block = 4096, .address = 4104, .length = 8},
			{.armed = true,
			 .scout = true,
			 .wanted = WATCH_EXPRESSIONS,
			 .address = 128,
			 .length = 8}}};
	return 0;
}

static void a_freed_block_gives_its_slot_back_alone(void **state)
{
	(void)state;
	watch_disarm_block(&watch, &process, 4096);
	assert_true(process.piece[0].armed);
	assert_false(process.piece[1].armed);
	assert_true(process.piece[2].armed);
}

static void no_block_is_at_zero(void **state)
{
	(void)state;
	watch_disarm_block(&watch, &process, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_true(process.piece[i].armed);
}

static void count_notice(struct program *program, const struct notice *notice)
{
	(void)program;
	assert_true(notice->address || notice->kind == NOTICE_THREAD_BEGINS);
	notices++;
}

/* The program writes the records. */
static void notices_of_no_block_are_dropped(void **state)
{
	static const struct notice_events events = {.notice = count_notice};
	static struct notices told = {.events = &events};
	struct area_hit record = {.flags = AREA_HIT_FREED};

	(void)state;
	control.program.notices = &told;
	notice_tell(&target, &record);
	record.flags = AREA_HIT_BLOCK;
	notice_tell(&target, &record);
	assert_int_equal(notices, 0);
	record.flags = AREA_HIT_THREAD;
	notice_tell(&target, &record);
	record.flags = AREA_HIT_FREED;
	record.address = 4096;
	notice_tell(&target, &record);
	assert_int_equal(notices, 2);
}

/* A debugger has the hardware; scouts are sent out anew, and not before it has ended. */
static void scouts_stay_away_from_silence(void **state)
{
	(void)state;
	process.scouted = true;
	watch_silence(&watch, &process);
	assert_true(process.piece[0].armed);
	assert_true(process.piece[1].armed);
	assert_false(process.piece[2].armed);
	assert_false(process.scouted);
	watch_resume(&watch, &process);
	assert_false(process.piece[2].armed);
	assert_false(process.scouted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_freed_block_gives_its_slot_back_alone, set_up),
		cmocka_unit_test_setup(no_block_is_at_zero, set_up),
		cmocka_unit_test_setup(notices_of_no_block_are_dropped, set_up),
		cmocka_unit_test_setup(scouts_stay_away_from_silence, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
