/* SPDX-License-Identifier: Apache-2.0 */
/* Of heap:SIZE@function a block is watched while it lives, whether or not its end was told. */
#include "flow/expression.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tool/set.h"

#define PID 7

static uint64_t living, moved_to;
static unsigned moves;
static int error; /* of keeping */
static struct flow_expression expression;

void tool_refuse(struct tl_host *host, pid_t pid)
{
	(void)host, (void)pid;
}

static int keep_block(struct tl_host *host, pid_t pid, uint64_t address)
{
	(void)host, (void)pid;
	living = error ? 0 : address;
	return error;
}

static bool block_lives(struct tl_host *host, pid_t pid, uint64_t address)
{
	(void)host;
	return pid == PID && address == living;
}

static int unwind(struct tl_host *host, const struct tl_access *access,
		  struct tl_frame_place *frames, size_t max)
{
	(void)host, (void)access, (void)max;
	frames[0].pc = 0x105;
	return 1;
}

static void piece(void *context, pid_t pid, uint64_t address, uint64_t length)
{
	(void)context, (void)pid, (void)address, (void)length;
}

static void move(void *context, uint64_t from, uint64_t to)
{
	(void)context, (void)from;
	moved_to = to;
	moves++;
}

static const struct tl_services services = {.size = sizeof(services),
					    .keep_block = keep_block,
					    .block_lives = block_lives,
					    .unwind = unwind};

static void bear(uint64_t address)
{
	struct tl_access from = {.pid = PID};
	struct tl_block block = {.pid = PID, .address = address, .length = 32, .from = &from};

	flow_expression_born(&expression, &block, piece, move, NULL);
}

static int set_up(void **state)
{
	(void)state;
	expression = (struct flow_expression){
		.services = &services,
		.meaning = {.length = 8, .block_size = 32, .maker = 0x100, .maker_end = 0x200}};
	error = 0;
	moves = 0;
	bear(0x1000);
	return moved_to == 0x1000 ? 0 : -1;
}

static void while_it_lives(void **state)
{
	(void)state;
	bear(0x2000);
	flow_expression_look(&expression, move, NULL);
	assert_int_equal(moved_to, 0x1000);
	assert_int_equal(moves, 1);
}

/* The hit that comes first, of whoever has its memory now, is none of it. */
static void one_whose_end_was_not_told(void **state)
{
	(void)state;
	living = 0;
	flow_expression_look(&expression, move, NULL);
	assert_int_equal(moved_to, 0);
	bear(0x2000);
	assert_int_equal(moved_to, 0x2000);
}

/* … or another block is made first. */
static void one_after_another(void **state)
{
	(void)state;
	living = 0;
	bear(0x2000);
	assert_int_equal(moved_to, 0x2000);
}

static void one_whose_end_would_not_be_known(void **state)
{
	(void)state;
	living = 0;
	error = -ENFILE;
	bear(0x2000);
	assert_int_equal(moved_to, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(while_it_lives, set_up),
		cmocka_unit_test_setup(one_whose_end_was_not_told, set_up),
		cmocka_unit_test_setup(one_after_another, set_up),
		cmocka_unit_test_setup(one_whose_end_would_not_be_known, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
