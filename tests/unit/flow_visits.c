/* SPDX-License-Identifier: Apache-2.0 */
/* A place that could not be watched was not visited: nothing is concluded from that nobody came. */
#include "flow/from.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tool/set.h"

static int error; /* of arming */
static struct flow_tree tree;
static struct flow_from from;

void tool_refuse(struct tl_host *host, pid_t pid)
{
	(void)host, (void)pid;
}

static int arm(struct tl_host *host, const struct tl_watch *watch)
{
	(void)host, (void)watch;
	return error;
}

static void disarm(struct tl_host *host, uint64_t cookie)
{
	(void)host, (void)cookie;
}

static void count(struct tl_host *host, const char *name, uint64_t by)
{
	(void)host, (void)name, (void)by;
}

static int memory(struct tl_host *host, pid_t pid, uint64_t address, struct tl_memory *found)
{
	(void)host, (void)pid, (void)address, (void)found;
	return -ENOENT;
}

static void forget(void *state, unsigned question)
{
	(void)state, (void)question;
}

static const struct tl_services services = {
	.size = sizeof(services), .arm = arm, .disarm = disarm, .count = count, .memory = memory};
static const struct flow_asker asker = {.forget = forget};

static int set_up(void **state)
{
	(void)state;
	tree = (struct flow_tree){.services = &services, .values = 1};
	tree.value[0] = (struct flow_value){
		.writer = FLOW_NONE, .address = 0x1000, .length = 8, .state = FLOW_VALUE_KNOWN};
	from = (struct flow_from){.services = &services, .tree = &tree};
	from.asking.services = &services;
	from.asking.asker = &asker;
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		from.asking.question[i].item = FLOW_NO_ITEM;
	return 0;
}

static uint64_t turns(void)
{
	struct flow_item item;

	assert_true(flow_from_item(&from, 0, &item));
	return item.visits;
}

static void one_that_is_watched(void **state)
{
	(void)state;
	error = 0;
	assert_true(flow_from_ask(&from, 0, 0));
	assert_int_equal(tree.value[0].visits, 1);
	assert_int_equal(turns(), 1);
}

/* Its turn has not come yet. */
static void one_that_the_budget_puts_off(void **state)
{
	(void)state;
	error = -EAGAIN;
	assert_false(flow_from_ask(&from, 0, 0));
	assert_int_equal(tree.value[0].visits, 0);
	assert_int_equal(tree.value[0].tries, 0);
	assert_int_equal(turns(), 0);
}

/* Others come first, as it may never be watched. */
static void one_that_cannot_be_watched(void **state)
{
	(void)state;
	error = -EADDRINUSE;
	assert_false(flow_from_ask(&from, 0, 0));
	assert_int_equal(tree.value[0].visits, 0);
	assert_int_equal(tree.value[0].tries, 0);
	assert_int_equal(turns(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_that_is_watched, set_up),
		cmocka_unit_test_setup(one_that_the_budget_puts_off, set_up),
		cmocka_unit_test_setup(one_that_cannot_be_watched, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
