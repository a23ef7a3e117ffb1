/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that did not come to its stop in time goes on when it does, though nobody asks for it
 * any more: here one that waits for a child of vfork(2), which nothing but that child wakes.
 */
#include "inject/remote.h"

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

static void test_goes_on(void **unused)
{
	pid_t pid = begin();
	struct remote remote;
	struct rush rush;
	int err;

	(void)unused;
	sleep_for(100);
	rush = rush_begin();
	err = remote_begin(&remote, (struct remote_process){pid, -1}, pid, 0);
	rush_end(&rush);
	if (err != -ETIMEDOUT) {
		kill(pid, SIGKILL);
		print_message("it could be stopped: %d\n", err);
		skip();
	}
	remote_part_with_late();
	sleep_for(LATER_MS);
	assert_int_equal(state_of(pid), 'S');
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_goes_on)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
