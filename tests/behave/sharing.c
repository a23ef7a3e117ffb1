/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own use of SIGTRAP works before, during and after ours. */
#include "check.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <ucontext.h>

static volatile long watched, own_watched;
static volatile int own_traps;
static volatile int last_code;
static volatile long own_data;

static void own_handler(int signal, siginfo_t *info, void *context)
{
	(void)context;
	CHECK_EQUAL(signal, SIGTRAP);
	own_traps++;
	last_code = info->si_code;
	memcpy((void *)&own_data, (char *)info + 24, sizeof(own_data));
}

static void install_own(int flags)
{
	struct sigaction action = {.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO | flags};

	CHECK_OK(sigaction(SIGTRAP, &action, NULL));
}

static void breakpoint(void)
{
	__asm__ volatile("int3");
}

static void expect_own(int traps)
{
	own_traps = 0;
	for (int i = 0; i < traps; i++)
		breakpoint();
	CHECK_EQUAL(own_traps, traps);
	raise(SIGTRAP);
	CHECK_EQUAL(own_traps, traps + 1);
}

static void test_before_during_after(void)
{
	volatile long hits = 0;
	struct sigaction seen;
	tl_event *event;

	install_own(0);
	expect_own(3);
	event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, check_count_hit, (void *)&hits);
	expect_own(3);
	watched = 1;
	CHECK_EQUAL(hits, 1);
	CHECK_OK(sigaction(SIGTRAP, NULL, &seen));
	CHECK(seen.sa_sigaction == own_handler && seen.sa_flags & SA_SIGINFO, "seen");
	signal(SIGTRAP, SIG_IGN);
	CHECK(signal(SIGTRAP, SIG_DFL) == SIG_IGN, "old");
	watched = 2;
	CHECK_EQUAL(hits, 2);
	install_own(0);
	expect_own(2);
	CHECK_OK(tl_event_close(event));
	expect_own(2);
}

static void test_own_perf_event(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .sample_period = 1,
				       .bp_type = HW_BREAKPOINT_W,
				       .bp_addr = (unsigned long)&own_watched,
				       .bp_len = 8,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .sigtrap = 1,
				       .remove_on_exec = 1,
				       .sig_data = 42};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	volatile long hits = 0;
	tl_event *event =
		check_open(&watched, 8, TL_WRITE, TL_PROCESS, check_count_hit, (void *)&hits);

	CHECK(fd >= 0, "own event");
	own_traps = 0;
	for (int i = 0; i < 100; i++) {
		watched = i;
		own_watched = i;
	}
	CHECK_EQUAL(hits, 100);
	CHECK_EQUAL(own_traps, 100);
	CHECK_EQUAL(own_data, 42);
	CHECK_OK(tl_event_close(event));
	own_watched = 1;
	CHECK_EQUAL(own_traps, 101);
	close(fd);
}

static volatile unsigned late_access;

static void note_access(tl_hit *hit, void *arg)
{
	++*(long *)arg;
	late_access = tl_hit_access(hit);
}

static void test_blocked(void)
{
	sigset_t set, old;
	volatile long hits = 0;
	uint64_t late = check_stat("hits-late"), unseen = check_stat("hits-unseen");
	tl_event *event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, note_access, (void *)&hits);

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (int i = 0; i < 10; i++)
		watched = i;
	CHECK_EQUAL(hits, 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	CHECK_EQUAL(hits, 1);
	CHECK(late_access & TL_LATE && late_access & TL_GUESSED, "access %#x", late_access);
	watched = 1;
	CHECK_EQUAL(hits, 2);
	CHECK_EQUAL(late_access, TL_WRITE);
	CHECK_OK(tl_event_close(event));
	CHECK_EQUAL(check_stat("hits-late") - late, 1);
	CHECK_EQUAL(check_stat("hits-unseen") - unseen, 9);
}

static void expect_death(const char *what, void (*prepare)(void), void (*act)(void), int signal)
{
	pid_t child = fork();
	int status;

	if (!child) {
		volatile long hits = 0;

		prepare();
		check_open(&watched, 8, TL_WRITE, TL_PROCESS, check_count_hit, (void *)&hits);
		watched = 1;
		CHECK_EQUAL(hits, 1);
		act();
		_exit(7);
	}
	waitpid(child, &status, 0);
	if (signal)
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signal, "%s: %#x", what, status);
	else
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%s: %#x", what, status);
}

static void by_default(void)
{
	signal(SIGTRAP, SIG_DFL);
}

static void ignoring(void)
{
	signal(SIGTRAP, SIG_IGN);
}

static void raise_trap(void)
{
	raise(SIGTRAP);
}

static volatile int inner_blocked;

static void look_at_mask(int signal)
{
	sigset_t now;

	(void)signal;
	sigprocmask(SIG_SETMASK, NULL, &now);
	inner_blocked = sigismember(&now, SIGTRAP) | sigismember(&now, SIGUSR2) << 1 |
			sigismember(&now, SIGUSR1) << 2;
	own_traps++;
}

static void test_flags(void)
{
	struct sigaction action = {.sa_handler = look_at_mask};
	struct sigaction seen;

	sigaddset(&action.sa_mask, SIGUSR2);
	CHECK_OK(sigaction(SIGTRAP, &action, NULL));
	breakpoint();
	CHECK_EQUAL(inner_blocked, 3);
	action.sa_flags = SA_NODEFER | SA_RESETHAND;
	CHECK_OK(sigaction(SIGTRAP, &action, NULL));
	breakpoint();
	CHECK_EQUAL(inner_blocked, 2);
	CHECK_OK(sigaction(SIGTRAP, NULL, &seen));
	CHECK(seen.sa_handler == SIG_DFL, "reset");
}

int main(void)
{
	check_hardware();
	test_before_during_after();
	test_own_perf_event();
	test_blocked();
	test_flags();
	expect_death("int3, default", by_default, breakpoint, SIGTRAP);
	expect_death("raise, default", by_default, raise_trap, SIGTRAP);
	expect_death("int3, ignored", ignoring, breakpoint, SIGTRAP);
	expect_death("raise, ignored", ignoring, raise_trap, 0);
	return 0;
}
