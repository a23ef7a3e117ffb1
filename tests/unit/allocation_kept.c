/* SPDX-License-Identifier: Apache-2.0 */
/* A block that the controller keeps: it sees in the area that the block is freed, whatever becomes
 * of the record and of the notice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/state.h"
#include "allocation/allocation.h"
#include "contact/notice.h"

#define BLOCK 0x10000u
#define BLOCKS_MOST (64u << 20) /* until another one has the same place */

struct agent_state agent_state;
static unsigned born, freed;
static bool keeps, displaces;
static uint64_t other;

/* In place of src/agent, and of the walk of a stack. */
uint64_t agent_now(void)
{
	return 1000000000;
}

void allocation_note_event(struct allocation_event *event, const struct allocation_caller *caller,
			   uint64_t now)
{
	(void)caller;
	event->time = now;
}

static void *pointer(uint64_t block)
{
	return (void *)(uintptr_t)block;
}

static void consider(uint64_t block)
{
	allocation_consider(pointer(block), 32, true, (struct allocation_caller){.pc = 1});
}

static void release(uint64_t block)
{
	allocation_release(pointer(block), (struct allocation_caller){.pc = 1});
}

/* The controller's part: it keeps the block that it is told of. */
void agent_notice(uint32_t kind, uint64_t address, uint64_t size,
		  const struct area_registers *registers)
{
	(void)size, (void)registers;
	born += kind == AREA_HIT_BLOCK && address == BLOCK;
	freed += kind == AREA_HIT_FREED && address == BLOCK;
	if (kind != AREA_HIT_BLOCK || address != BLOCK)
		return;
	if (displaces)
		consider(other);
	if (keeps) {
		agent_state.process->heap.block[0] = BLOCK;
		agent_state.process->heap.blocks = 1;
	}
}

static bool lives(void)
{
	return agent_state.process->heap.block[0] == BLOCK;
}

static int set_up(void **state)
{
	(void)state;
	for (other = BLOCK + ALLOCATION_ALIGNMENT;
	     allocation_place(other) != allocation_place(BLOCK) && other < BLOCKS_MOST;)
		other += ALLOCATION_ALIGNMENT;
	allocation_table.entry[allocation_place(BLOCK)].block = 0;
	agent_state.area = calloc(1, sizeof(struct area));
	if (!agent_state.area)
		return -1;
	agent_state.process = &agent_state.area->process[0];
	agent_state.area->allocations.on = agent_state.area->allocations.all = 1;
	agent_state.area->allocations.births = 1;
	born = freed = 0;
	keeps = true;
	displaces = false;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(agent_state.area);
	return 0;
}

static void its_end_is_told(void **state)
{
	(void)state;
	consider(BLOCK);
	assert_int_equal(born, 1);
	assert_true(lives());
	release(BLOCK);
	assert_false(lives());
	assert_int_equal(freed, 1);
}

/* free() knows a block by its record. */
static void its_record_stays(void **state)
{
	(void)state;
	consider(BLOCK);
	consider(other);
	assert_true(allocation_is_known(pointer(BLOCK)));
	release(BLOCK);
	assert_int_equal(freed, 1);
	consider(other);
	assert_true(allocation_is_known(pointer(other)));
}

static void another_one_s_record_does_not(void **state)
{
	(void)state;
	keeps = false;
	consider(BLOCK);
	consider(other);
	assert_true(allocation_is_known(pointer(other)));
}

/* Another thread's block takes its place before it is kept. */
static void a_record_that_is_gone_before(void **state)
{
	(void)state;
	displaces = true;
	consider(BLOCK);
	assert_true(allocation_is_known(pointer(other)));
	assert_false(lives());
}

/* A thread that writes the record is at another block of that place, and goes on writing. */
static void a_record_that_is_being_written(void **state)
{
	struct allocation_record *record = &allocation_table.record[allocation_place(BLOCK)];

	(void)state;
	consider(BLOCK);
	record->sequence++;
	release(BLOCK);
	record->sequence++;
	assert_false(lives());
	assert_int_equal(freed, 1);
}

/* No notice can be given where no system call may be made. */
static void in_silence(void **state)
{
	(void)state;
	consider(BLOCK);
	agent_state.process->quiet = 1;
	release(BLOCK);
	assert_int_equal(freed, 0);
	assert_false(lives());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(its_end_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(its_record_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_one_s_record_does_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_record_that_is_gone_before, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_record_that_is_being_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_silence, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
