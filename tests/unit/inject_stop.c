/* SPDX-License-Identifier: Apache-2.0 */
/* SIGSTOP cannot be blocked: one that comes while a thread makes calls for us is the program's, and
 * so is a SIGCONT after it. */
#include "inject/remote.h"

#include "inject/rush.h"
#include "inject/status.h"
#include "inject/vdso.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LOOKS 200
#define LOOK_MS 10

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

static char state_after(pid_t pid, char wanted)
{
	for (int i = 0; i < LOOKS && state_of(pid) != wanted; i++)
		sleep_for(LOOK_MS);
	return state_of(pid);
}

/* A process that ends with this one. */
static pid_t begin(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(1);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* What a call returned that it made once each of the signals had been sent. */
static long call_with(pid_t pid, const int *signals, size_t count)
{
	struct rush rush = rush_begin();
	struct remote remote;
	struct vdso vdso;
	long result = vdso_find(pid, &vdso);

	if (!result)
		result = remote_begin(&remote, (struct remote_process){pid, -1}, pid, vdso.call);
	if (!result) {
		result = pid;
		for (size_t i = 0; i < count && result == pid; i++) {
			kill(pid, signals[i]);
			result = REMOTE_CALL(&remote, SYS_getpid, 0);
		}
		remote_end(&remote);
	}
	rush_end(&rush);
	return result;
}

static void test_stops_when_it_is_let_go(void **unused)
{
	const int stop[] = {SIGSTOP};
	pid_t pid = begin();

	(void)unused;
	assert_int_equal(state_after(pid, 'S'), 'S');
	assert_int_equal(call_with(pid, stop, 1), pid);
	assert_int_equal(state_after(pid, 'T'), 'T');
	kill(pid, SIGCONT);
	assert_int_equal(state_after(pid, 'S'), 'S');
	end(pid);
}

static void test_goes_on_when_it_was_told_to(void **unused)
{
	const int both[] = {SIGSTOP, SIGCONT};
	pid_t pid = begin();

	(void)unused;
	assert_int_equal(state_after(pid, 'S'), 'S');
	assert_int_equal(call_with(pid, both, 2), pid);
	sleep_for(LOOK_MS);
	assert_int_equal(state_after(pid, 'S'), 'S');
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stops_when_it_is_let_go),
		cmocka_unit_test(test_goes_on_when_it_was_told_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
