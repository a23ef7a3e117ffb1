/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a store of a pointer to virtual functions leaves an object's class as it is, in a process
 * that runs and in one that has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/state.h"
#include "hit/hit.h"
#include "process/space.h"
#include "reader/open.h"

static void function(void)
{
}

/* As a compiler lays them out: the class's description, and its table. */
static const struct {
	const void *base;
	const char *name;
} description = {NULL, "6worker"}, other_description = {NULL, "5other"};

struct table {
	long whole;
	const void *description;
	void (*function[1])(void);
};

static const struct table table = {0, &description, {function}};
static const struct table other = {0, &other_description, {function}};
static const struct table none = {17, NULL, {function}};

struct bench {
	struct symbol_session *session;
	struct space *space;
	pid_t child;
};

/* The child is a copy of this process: its tables lie where ours do. */
static int set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	assert_non_null(bench);
	bench->child = fork();
	assert_true(bench->child >= 0);
	if (bench->child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(symbol_session_open(&bench->session, NULL), 0);
	assert_int_equal(space_open(&bench->space, bench->session, bench->child), 0);
	assert_non_null(space_module(bench->space, (uintptr_t)function));
	*state = bench;
	return 0;
}

static void end_child(struct bench *bench)
{
	if (!bench->child)
		return;
	assert_int_equal(kill(bench->child, SIGKILL), 0);
	assert_int_equal(waitpid(bench->child, NULL, 0), bench->child);
	bench->child = 0;
}

static int tear_down(void **state)
{
	struct bench *bench = *state;

	end_child(bench);
	space_close(bench->space);
	symbol_session_close(bench->session);
	free(bench);
	return 0;
}

/* Of a store of `value` to a word that was watched when `stood` was there. */
static bool is_kept(const struct bench *bench, uint64_t value, uint64_t stood)
{
	const uint64_t address = 0x10000;
	struct target *target = calloc(1, sizeof(*target));
	struct slot *slot = calloc(1, sizeof(*slot));
	struct hit *write = calloc(1, sizeof(*write));
	bool kept;

	assert_true(target && slot && write);
	target->space = bench->space;
	slot->watch.address = address;
	slot->watch.length = 8;
	slot->stood = stood;
	slot->stood_known = true;
	write->entry = 1;
	write->access = (struct tl_access){.size = sizeof(write->access),
					   .address = address,
					   .length = 8,
					   .access = TL_WRITE,
					   .traits = TL_TRAIT_PLAIN,
					   .value = value,
					   .value_known = true};
	kept = class_is_kept(target, slot, write);
	free(write);
	free(slot);
	free(target);
	return kept;
}

static uint64_t pointer_to(const struct table *to)
{
	return (uintptr_t)to->function;
}

static void while_it_runs(void **state)
{
	assert_true(is_kept(*state, pointer_to(&table), pointer_to(&table)));
	assert_false(is_kept(*state, pointer_to(&table), pointer_to(&other)));
	assert_false(is_kept(*state, pointer_to(&none), pointer_to(&none)));
	assert_false(is_kept(*state, 17, 17));
}

static void after_it_has_ended(void **state)
{
	end_child(*state);
	assert_true(is_kept(*state, pointer_to(&table), pointer_to(&table)));
	assert_false(is_kept(*state, pointer_to(&table), pointer_to(&other)));
	assert_false(is_kept(*state, 0x10000, 0x10000));
	assert_false(is_kept(*state, 17, 17));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(while_it_runs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(after_it_has_ended, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
