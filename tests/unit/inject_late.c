/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that did not come to its stop in time goes on when it does, though nobody asks for it
 * any more: here one that waits for a child of vfork(2), which nothing but that child wakes.
 */
#include "inject/remote.h"

#include "inject/apart.h"
#include "inject/rush.h"
#include "inject/status.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define CHILD_MS 800 /* longer than a stop is waited for */
#define LATER_MS 1500

static void sleep_for(long milliseconds)
{
	struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static char state_of(pid_t pid)
{
	struct status status;

	return status_read(pid, &status) ? '?' : status.state;
}

static int live(void *unused)
{
	(void)unused;
	sleep_for(CHILD_MS);
	return 0;
}

/* It goes on until the test has looked at it. */
static pid_t begin(void)
{
	static char stack[65536];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	clone(live, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	for (;;)
		pause();
}

/* 0 or why not. */
static int stop(void *process)
{
	pid_t pid = *(pid_t *)process;
	struct rush rush = rush_begin();
	struct remote remote;
	int err = remote_begin(&remote, (struct remote_process){pid, -1}, pid, 0);

	if (!err)
		remote_end(&remote);
	rush_end(&rush);
	return err;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* One that cannot be stopped yet. */
static pid_t begin_late(void)
{
	pid_t pid = begin();
	int err;

	sleep_for(100);
	err = stop(&pid);
	if (err == -ETIMEDOUT)
		return pid;
	end(pid);
	print_message("it could be stopped: %d\n", err);
	skip();
	return 0;
}

static void test_goes_on(void **unused)
{
	pid_t pid = begin_late();

	(void)unused;
	remote_part_with_late();
	sleep_for(LATER_MS);
	assert_int_equal(state_of(pid), 'S');
	end(pid);
}

/* It has the same memory, and looks for late threads too, but those are not its. */
static void test_process_apart_forgets_none(void **unused)
{
	pid_t pid = begin_late(), other = fork();

	(void)unused;
	while (other == 0)
		pause();
	assert_int_equal(apart_run(stop, &other), 0);
	sleep_for(LATER_MS);
	assert_int_equal(state_of(pid), 't');
	remote_let_late_go();
	sleep_for(100);
	assert_int_equal(state_of(pid), 'S');
	end(other);
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process_apart_forgets_none),
		cmocka_unit_test(test_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
