/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A defect of ours, or a library that calls exit() or abort() when it has no memory (libdw does),
 * must not look like a failure of the program. The area is marked as closed and every event is
 * closed, so handlers return at once; then all that is left to do is to wait.
 *
 * All of it may run in a signal handler: system calls alone.
 */
#include "control/abandon.h"

#include "base/syscall.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	struct area *area;
	pid_t child; /* 0: nothing is at stake */
	bool has_ended;
	int status;
} stake;

static void tell(const char *text)
{
	if (raw_syscall3(SYS_write, STDERR_FILENO, (long)text, (long)strlen(text)) < 0)
		return;
}

static _Noreturn void wait_for_program(void)
{
	pid_t child = stake.child;

	if (!stake.has_ended) {
		area_close(stake.area);
		/* Every descriptor but the standard ones: the events are among them. */
		raw_syscall3(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
		while (waitpid(child, &stake.status, 0) != child)
			;
	}
	_exit(WIFEXITED(stake.status) ? WEXITSTATUS(stake.status) : 128 + WTERMSIG(stake.status));
}

static void on_crash(int number)
{
	(void)number;
	if (!stake.child)
		_exit(128 + number);
	tell("trapline: an error of its own ends the watching; the program goes on\n");
	wait_for_program();
}

static void at_exit(void)
{
	if (!stake.child)
		return;
	tell("trapline: out of memory or resources: the watching ends, the program goes on\n");
	wait_for_program();
}

void abandon_prepare(struct area *area, pid_t child)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
	static char room[16384];
	stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_RESETHAND};

	stake.area = area;
	stake.child = child;
	stake.has_ended = false;
	atexit(at_exit);
	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
}

void abandon_settle(int status)
{
	stake.status = status;
	stake.has_ended = true;
}

void abandon_forget(void)
{
	stake.child = 0;
}
