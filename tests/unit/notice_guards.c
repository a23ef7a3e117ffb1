/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory of a program says of its guarded blocks, where that is out of date or made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "notice/guards.h"
#include "process/space.h"
#include "reader/open.h"

#define PLACE 40u
#define PAGE 3u /* of the block's run */

struct bench {
	struct program program;
	struct target target;
	struct area_process shared;
	struct guard_table *table;
	uint32_t owner[GUARD_PAGES];
	uint64_t arena;
};

static struct guard_record *record_of(struct bench *bench)
{
	return &bench->table->record[PLACE];
}

static int set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct program *program = &bench->program;

	assert_int_equal(symbol_session_open(&program->session, NULL), 0);
	bench->table = calloc(1, sizeof(*bench->table));
	bench->target =
		(struct target){.program = program, .pid = getpid(), .shared = &bench->shared};
	program->target[0] = &bench->target;
	assert_int_equal(space_open(&bench->target.space, program->session, getpid()), 0);
	bench->arena = 1ull << 40;
	bench->shared.guard.table = (uintptr_t)bench->table;
	bench->shared.guard.pages = bench->arena;
	bench->shared.guard.owner = (uintptr_t)bench->owner;
	*record_of(bench) = (struct guard_record){.serial = 1,
						  .size = 5000,
						  .raw = bench->arena + PAGE * GUARD_PAGE,
						  .room = 2 * GUARD_PAGE,
						  .run = bench->arena + PAGE * GUARD_PAGE,
						  .pages = 2};
	bench->table->entry[PLACE] =
		guard_word(bench->arena + (PAGE + 2) * GUARD_PAGE - 5008, GUARD_LIVE);
	for (uint32_t page = PAGE; page <= PAGE + 2; page++)
		bench->owner[page] = PLACE + 1;
	*state = bench;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *bench = *state;

	space_close(bench->target.space);
	symbol_session_close(bench->program.session);
	free(bench->table);
	free(bench);
	return 0;
}

static bool is_on_page(struct bench *bench, uint32_t page)
{
	struct guards_block block;

	return guards_on_page(&bench->program, getpid(),
			      bench->arena + page * (uint64_t)GUARD_PAGE + 100, &block);
}

static void a_run_is_its_blocks(void **state)
{
	struct bench *bench = *state;

	assert_false(is_on_page(bench, PAGE - 1));
	for (uint32_t page = PAGE; page <= PAGE + 2; page++)
		assert_true(is_on_page(bench, page));
	assert_false(is_on_page(bench, PAGE + 3));
}

static void a_pages_owner_may_be_on_no_page(void **state)
{
	struct bench *bench = *state;

	*record_of(bench) = (struct guard_record){
		.serial = 2, .size = 16, .raw = 0x5000 - GUARD_ALIGNMENT, .room = 64};
	bench->table->entry[PLACE] = guard_word(0x5000, GUARD_LIVE);
	assert_false(is_on_page(bench, PAGE));
}

static void a_pages_owner_may_be_on_others(void **state)
{
	struct bench *bench = *state;

	bench->owner[PAGE + 3] = bench->owner[PAGE - 1] = PLACE + 1;
	assert_false(is_on_page(bench, PAGE - 1));
	assert_false(is_on_page(bench, PAGE + 3));
	record_of(bench)->pages = UINT32_MAX;
	assert_false(is_on_page(bench, PAGE + 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_run_is_its_blocks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pages_owner_may_be_on_no_page, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pages_owner_may_be_on_others, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
