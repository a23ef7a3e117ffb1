/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the program with the preload library, its environment otherwise untouched. */
#include "program/preload.h"
#include "arrival/enter.h"
#include "arrival/launch.h"
#include "program/abandon.h"
#include "program/own_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_environment(const struct program *program, const char *library,
			   struct preload *before)
{
	char locator[AREA_LOCATOR];
	int err = preload_put(before, library);

	if (err)
		return err;
	area_locator(program->area, getpid(), locator);
	if (!setenv(AREA_VARIABLE, locator, 1))
		return 0;
	err = -errno;
	preload_restore(before);
	return err;
}

static void restore_environment(struct preload *before)
{
	unsetenv(AREA_VARIABLE);
	preload_restore(before);
}

/* Reads exactly `length` bytes. 0 when all of them came. */
static int read_fully(int fd, void *to, size_t length)
{
	ssize_t got;

	do
		got = read(fd, to, length);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)length ? 0 : -EIO;
}

/* The terminal is in use for something else: the program neither writes to it nor reads its keys.
 */
static void leave_terminal(int output)
{
	int nothing;

	if (isatty(STDOUT_FILENO))
		dup2(output, STDOUT_FILENO);
	if (isatty(STDERR_FILENO))
		dup2(output, STDERR_FILENO);
	if (!isatty(STDIN_FILENO))
		return;
	nothing = open("/dev/null", O_RDONLY);
	if (nothing > STDIN_FILENO) {
		dup2(nothing, STDIN_FILENO);
		close(nothing);
	}
}

/* The child waits for the sampling events to be opened on it, then becomes the program. */
static void become(char *const argv[], int ready, int failed, const sigset_t *mask)
{
	int err;
	char go;

	if (read_fully(ready, &go, 1))
		_exit(127);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) != sizeof(err))
		_exit(127);
	_exit(127);
}

static int wait_for_exec(int failed)
{
	int err = 0;

	return read_fully(failed, &err, sizeof(err)) ? 0 : -err;
}

/* Tells the child to go on; if that fails, the child ends, unstarted and unseen. */
static int let_go(pid_t child, int ready, int failed)
{
	ssize_t written;
	int err;

	do
		written = write(ready, "", 1);
	while (written < 0 && errno == EINTR);
	err = written == 1 ? wait_for_exec(failed) : -errno;
	if (!err)
		return 0;
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return err;
}

/* Timers that whoever started us had set before: execution keeps them, so they are the program's
 * (alarm(2)). Forking does not. */
struct timers {
	struct itimerval timer[3];
};
_Static_assert(ITIMER_REAL == 0 && ITIMER_VIRTUAL == 1 && ITIMER_PROF == 2, "they are indices");

static void take_timers(struct timers *timers)
{
	static const struct itimerval none;

	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
		if (setitimer(which, &none, &timers->timer[which]))
			timers->timer[which] = none;
}

static void put_timers(const struct timers *timers)
{
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
		setitimer(which, &timers->timer[which], NULL);
}

/* -errno on failure. */
static pid_t fork_child(const struct launch *launch, int ready[2], int failed[2])
{
	/* Findings may go into a pipe that nobody reads any more: the program's end is still told.
	 */
	sighandler_t broken_pipe = signal(SIGPIPE, SIG_IGN);
	struct timers timers;
	sigset_t all, mask;
	pid_t pid;
	int err;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	take_timers(&timers);
	pid = fork();
	err = -errno;
	if (pid == 0) {
		/* Handlers of ours must not run here, and what we ignore is ours alone. Its own
		 * copies of the far ends would keep it waiting for itself. */
		signal(SIGCHLD, launch->child_ends_ignored ? SIG_IGN : SIG_DFL);
		signal(SIGPIPE, broken_pipe);
		abandon_inherit();
		own_limits_inherit();
		close(ready[1]);
		close(failed[0]);
		if (launch->program->options.output >= 0)
			leave_terminal(launch->program->options.output);
		put_timers(&timers);
		become(launch->argv, ready[0], failed[1], &mask);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return pid < 0 ? err : pid;
}

pid_t launch_program(const struct launch *launch)
{
	struct program *program = launch->program;
	struct preload before = {0};
	int ready[2], failed[2], err;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		err = -errno;
		close(ready[0]);
		close(ready[1]);
		return err;
	}
	err = launch->library ? set_environment(program, launch->library, &before) : 0;
	pid = err ? err : fork_child(launch, ready, failed);
	if (launch->library && !err)
		restore_environment(&before);
	close(ready[0]);
	close(failed[1]);
	if (pid > 0) {
		bool watched = launch->library || launch->entry;

		program->child = pid;
		unpaid_launch(launch->limits, pid);
		if (watched && windows_launch(launch->windows, pid))
			count_one(program, COUNT_CLOCKS_FAILED);
		entered_expect(program, pid, launch->entry);
		err = let_go(pid, ready[1], failed[0]);
		if (!err)
			entered_start(program, pid, launch->entry);
		if (err)
			pid = err;
	}
	close(ready[1]);
	close(failed[0]);
	return pid;
}
