/* SPDX-License-Identifier: Apache-2.0 */
/* Records of hits that the program made up: what becomes of them in a lasting watch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lasting/lasting.h"
#include "lasting/traces.h"
#include "process/space.h"
#include "reader/open.h"

static uint8_t watched[64];
static unsigned told;
static struct trace seen;

static void note(struct program *program, const struct trace *trace)
{
	(void)program;
	told++;
	seen = *trace;
}

struct bench {
	struct program program;
	struct lasting lasting;
	struct target target;
	struct area_process shared;
	struct area_hit record;
};

static int set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	bench->lasting.trace = note;
	bench->program.lasting = &bench->lasting;
	bench->program.ways.as_seen = true;
	assert_int_equal(symbol_session_open(&bench->program.session, NULL), 0);
	bench->target.program = &bench->program;
	bench->target.pid = getpid();
	bench->target.shared = &bench->shared;
	assert_int_equal(space_open(&bench->target.space, bench->program.session, getpid()), 0);
	told = 0;
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

/* A record whose value covers all of the slot's bytes, and 16 at most. */
static void tell(struct bench *bench, unsigned index, unsigned length, unsigned flags)
{
	struct slot *slot = &bench->target.slot[index];

	slot->armed = true;
	slot->watch = (struct tl_watch){
		.address = (uintptr_t)watched, .length = length, .access = TL_READ | TL_WRITE};
	bench->record.slot = index;
	bench->record.flags = flags;
	bench->record.value_address = bench->record.address = (uintptr_t)watched;
	bench->record.value_length = AREA_VALUE;
	bench->record.access_length = length;
	memset(bench->record.value, 0x41, AREA_VALUE);
	trace_tell(&bench->target, &bench->record, bench->target.pid);
}

static void a_regions_bytes_do_not_fit_a_value(void **state)
{
	struct bench *bench = *state;

	tell(bench, AREA_SLOTS, AREA_VALUE, 0);
	assert_int_equal(told, 0);
	assert_int_equal(bench->program.count[COUNT_HITS_STRANGE], 1);
}

static void a_slot_is_no_region(void **state)
{
	struct bench *bench = *state;

	tell(bench, 0, 8, AREA_HIT_REGION);
	assert_int_equal(told, 0);
	assert_int_equal(bench->program.count[COUNT_HITS_STRANGE], 1);
}

static void each_of_its_kind_is_told(void **state)
{
	struct bench *bench = *state;

	tell(bench, 0, 8, 0);
	assert_int_equal(told, 1);
	assert_true(seen.value_known);
	assert_int_equal(seen.value, 0x4141414141414141);
	tell(bench, AREA_SLOTS, AREA_VALUE, AREA_HIT_REGION);
	assert_int_equal(told, 2);
	assert_false(seen.value_known);
	assert_int_equal(bench->program.count[COUNT_HITS_STRANGE], 0);
}

/* Of a watchpoint's slot the length is ours; it is bounded all the same. What lies behind the value
 * in a trace would be overwritten otherwise. */
static void more_than_a_register_has_no_value(void **state)
{
	struct bench *bench = *state;
	struct trace first;

	for (unsigned length = sizeof(seen.value) + 1; length <= AREA_VALUE; length++) {
		tell(bench, 0, length, AREA_HIT_LATE);
		if (length == sizeof(seen.value) + 1)
			first = seen;
		assert_false(seen.value_known);
		assert_int_equal(seen.value, 0);
		assert_int_equal(seen.address, (uintptr_t)watched);
		assert_int_equal(seen.number, first.number);
		assert_int_equal(seen.before, first.before);
	}
	assert_int_equal(told, AREA_VALUE - sizeof(seen.value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_regions_bytes_do_not_fit_a_value, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_slot_is_no_region, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_of_its_kind_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(more_than_a_register_has_no_value, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
