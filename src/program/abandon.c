/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A defect of ours, or a library that calls exit() or abort() when it has no memory (libdw does),
 * must not look like a failure of the program. The area is marked as closed and every event is
 * closed, so handlers return at once; then all that is left to do is to wait.
 *
 * All of it may run in a signal handler: system calls alone.
 */
#include "program/abandon.h"

#include "base/syscall.h"
#include "program/ending.h"
#include "reader/open.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
	struct area *area;
	/* whose stake it is: a forked child that has not executed anything has none */
	pid_t self;
	pid_t child;	    /* 0: the program is not our child, or there is none */
	const char *errors; /* path of an existing file that gets the message, too; NULL: none */
	bool has_ended;
	int status;
} stake;

/* After a request to end, a timer looks once a second whether the loop has turned. The watching is
 * abandoned after LOOKS_IDLE looks in a row without CPU time used, or LOOKS_MOST looks in all:
 * reading symbols may take long, but uses CPU time meanwhile. */
#define LOOKS_IDLE 3
#define LOOKS_MOST 60
#define WORK_LEAST 10000000u /* ns of CPU time in a second, below which a look counts as idle */

static struct {
	_Atomic uint64_t beats;
	uint64_t beats_seen, time_seen;
	unsigned idle, looks;
} pulse;

/* Writes to standard error, or nothing where that would block: a crashing process must not wait. */
static void tell(const char *text)
{
	struct pollfd errors = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (raw_syscall3(SYS_poll, (long)&errors, 1, 0) != 1 || !(errors.revents & POLLOUT))
		return;
	if (raw_syscall3(SYS_write, STDERR_FILENO, (long)text, (long)strlen(text)) < 0)
		return;
}

/* Appends to the file of TRAPLINE_ERRORS: a companion's, a service's or a test's standard error may
 * be kept by nobody. */
static void note(const char *text)
{
	long fd;

	if (!stake.errors)
		return;
	fd = raw_syscall3(SYS_open, (long)stake.errors,
			  O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd >= 0) {
		raw_syscall3(SYS_write, fd, (long)text, (long)strlen(text));
		raw_close((int)fd);
	}
}

static _Noreturn void wait_for_program(void)
{
	pid_t child = stake.child;

	if (!stake.has_ended) {
		area_close(stake.area);
		/* Closes the perf events, and with them every descriptor but the standard ones. */
		raw_syscall3(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
		while (waitpid(child, &stake.status, 0) != child)
			;
	}
	ending_by_signal_of(stake.status);
	_exit(ending_code(stake.status));
}

static void on_crash(int number)
{
	static const char text[] =
		"trapline: an error of its own ends the watching; the program goes on\n";

	if (raw_getpid() != stake.self)
		_exit(128 + number);
	note(text);
	if (!stake.child) {
		if (stake.area)
			area_close(stake.area);
		_exit(128 + number);
	}
	tell(text);
	wait_for_program();
}

static void at_exit(void)
{
	static const char text[] =
		"trapline: out of memory or resources: the watching ends, the program goes on\n";

	if (!stake.child || raw_getpid() != stake.self)
		return;
	note(text);
	tell(text);
	wait_for_program();
}

static uint64_t time_used(void)
{
	struct timespec used = {0};

	raw_syscall3(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&used, 0);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec + symbol_reader_time();
}

static void look_again(void)
{
	const struct itimerval second = {.it_value.tv_sec = 1};

	pulse.beats_seen = atomic_load(&pulse.beats);
	pulse.time_seen = time_used();
	raw_syscall3(SYS_setitimer, ITIMER_REAL, (long)&second, 0);
}

static void on_alarm(int number)
{
	(void)number;
	if (atomic_load(&pulse.beats) != pulse.beats_seen)
		return;
	if (time_used() - pulse.time_seen >= WORK_LEAST)
		pulse.idle = 0;
	else
		pulse.idle++;
	if (pulse.idle < LOOKS_IDLE && ++pulse.looks < LOOKS_MOST) {
		look_again();
		return;
	}
	tell("trapline: was asked to end and is stuck: the watching ends\n");
	if (!stake.child)
		_exit(128 + SIGTERM);
	wait_for_program();
}

void abandon_beat(void)
{
	atomic_fetch_add_explicit(&pulse.beats, 1, memory_order_relaxed);
}

void abandon_when_stuck(void)
{
	pulse.idle = pulse.looks = 0;
	look_again();
}

/* Called once the program has been started, so that it inherits neither the handler nor the
 * mask. */
static void let_alarms_through(void)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	sigset_t alarm;

	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
static bool ignored[sizeof(crashes) / sizeof(crashes[0])]; /* when this process was started */

void abandon_prepare(struct area *area)
{
	static char room[16384];
	stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_RESETHAND};
	struct sigaction before;

	stake.area = area;
	stake.self = raw_getpid();
	stake.errors = getenv("TRAPLINE_ERRORS");
	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (!sigaction(crashes[i], &action, &before))
			ignored[i] = before.sa_handler == SIG_IGN;
}

void abandon_inherit(void)
{
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (ignored[i])
			signal(crashes[i], SIG_IGN);
}

void abandon_begin(pid_t child)
{
	stake.child = child;
	stake.has_ended = false;
	atexit(at_exit);
	let_alarms_through();
}

void abandon_take_over(void)
{
	stake.self = raw_getpid();
}

void abandon_settle(int status)
{
	stake.status = status;
	stake.has_ended = true;
}

void abandon_forget(void)
{
	stake.child = 0;
	stake.area = NULL;
}
