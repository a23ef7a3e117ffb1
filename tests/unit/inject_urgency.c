/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that was raised has its own policy and the slack of its timers again, also where it
 * changed that after it was prepared for; and no descriptor is left. */
#include "inject/urgency.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SLACK_BEFORE 123000ul
#define SLACK_LATER 456000ul

struct child {
	pid_t pid;
	int wake; /* a byte: it sets its slack anew … */
	int done; /* … and tells so by another */
};

static void run_child(int wake, int done)
{
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, SLACK_BEFORE);
	if (write(done, &byte, 1) == 1 && read(wake, &byte, 1) == 1) {
		prctl(PR_SET_TIMERSLACK, SLACK_LATER);
		if (write(done, &byte, 1) == 1)
			pause();
	}
	_exit(1);
}

static void await(const struct child *child)
{
	char byte;

	assert_int_equal(read(child->done, &byte, 1), 1);
}

static struct child begin(void)
{
	int wake[2], done[2];
	struct child child;

	assert_int_equal(pipe(wake), 0);
	assert_int_equal(pipe(done), 0);
	child = (struct child){.pid = fork(), .wake = wake[1], .done = done[0]};
	if (!child.pid)
		run_child(wake[0], done[1]);
	close(wake[0]);
	close(done[1]);
	await(&child);
	return child;
}

static void end(const struct child *child)
{
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
	close(child->wake);
	close(child->done);
}

static unsigned long slack_of(pid_t pid)
{
	unsigned long slack = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/timerslack_ns", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &slack), 1);
	fclose(file);
	return slack;
}

static void raise_and_put_back(struct urgency *urgency, pid_t pid)
{
	urgency_begin(urgency);
	if (!urgency->raised) {
		urgency_discard(urgency);
		skip();
	}
	assert_int_equal(sched_getscheduler(pid), SCHED_FIFO);
	urgency_end(urgency);
	assert_int_equal(sched_getscheduler(pid), SCHED_OTHER);
	urgency_discard(urgency);
	assert_int_equal(urgency->fd, -1);
}

static void test_put_back(void **state)
{
	struct child child = begin();
	struct urgency urgency;

	(void)state;
	urgency_prepare(&urgency, child.pid);
	raise_and_put_back(&urgency, child.pid);
	assert_int_equal(slack_of(child.pid), SLACK_BEFORE);
	end(&child);
}

static void test_changed_meanwhile(void **state)
{
	struct child child = begin();
	struct urgency urgency;

	(void)state;
	urgency_prepare(&urgency, child.pid);
	assert_int_equal(write(child.wake, "", 1), 1);
	await(&child);
	raise_and_put_back(&urgency, child.pid);
	assert_int_equal(slack_of(child.pid), SLACK_LATER);
	end(&child);
}

static void test_policy_of_its_own(void **state)
{
	const struct sched_param none = {0};
	struct child child = begin();
	struct urgency urgency;

	(void)state;
	assert_int_equal(sched_setscheduler(child.pid, SCHED_IDLE, &none), 0);
	urgency_prepare(&urgency, child.pid);
	urgency_begin(&urgency);
	assert_false(urgency.raised);
	urgency_end(&urgency);
	urgency_discard(&urgency);
	assert_int_equal(sched_getscheduler(child.pid), SCHED_IDLE);
	assert_int_equal(slack_of(child.pid), SLACK_BEFORE);
	end(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_back),
		cmocka_unit_test(test_changed_meanwhile),
		cmocka_unit_test(test_policy_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
