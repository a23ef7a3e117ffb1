/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads take SIGTRAP. Those that only wait for a CPU look alike: the other process of each
 * test here stands where another one takes the only CPU that it may run on.
 */
#include "inject/inject.h"
#include "inject/masks.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LOOK_MS 60

static void sleep_for(long milliseconds)
{
	struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static void stay_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* A process that ends with this one. */
static pid_t begin(void (*run)(void), int cpu)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (cpu >= 0)
		stay_on(cpu);
	run();
	_exit(0);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void block_all(void)
{
	unsigned long all = ~0ul;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
}

static void wait_for_signals(void)
{
	const struct timespec slice = {0, 5000000};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (;;)
		sigtimedwait(&all, NULL, &slice);
}

/* With a mask for that time alone. */
static void poll_unblocked(void)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (;;)
		ppoll(NULL, 0, NULL, &none);
}

static void poll_open(void)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGCHLD);
	for (;;)
		ppoll(NULL, 0, NULL, &one);
}

static void spin(void)
{
	for (;;)
		;
}

static void spin_blocked(void)
{
	block_all();
	spin();
}

static void sleep_long(void)
{
	for (;;)
		pause();
}

/* Before all others on its CPU. */
static void take_cpu(void)
{
	const struct sched_param first = {.sched_priority = 1};

	sched_setscheduler(0, SCHED_FIFO, &first);
	spin();
}

/* This process leaves it. -1: there is one CPU only, or none can be taken from others. */
static int other_cpu(void)
{
	const struct sched_param first = {.sched_priority = 1}, usual = {0};
	static int cpu = -1;
	cpu_set_t all;

	if (cpu >= 0 || sched_setscheduler(0, SCHED_FIFO, &first))
		return cpu;
	sched_setscheduler(0, SCHED_OTHER, &usual);
	sched_getaffinity(0, sizeof(all), &all);
	if (CPU_COUNT(&all) < 2)
		return -1;
	for (cpu = 0; !CPU_ISSET(cpu, &all); cpu++)
		;
	CPU_CLR(cpu, &all);
	sched_setaffinity(0, sizeof(all), &all);
	return cpu;
}

/* Woken, and not yet where the kernel blocks again what it waited for. */
static void test_waiter_without_a_cpu(void **unused)
{
	struct inject_thread found;
	int cpu = other_cpu();
	pid_t waiter, taker;

	(void)unused;
	if (cpu < 0)
		skip();
	waiter = begin(wait_for_signals, cpu);
	sleep_for(LOOK_MS);
	taker = begin(take_cpu, cpu);
	sleep_for(LOOK_MS);
	for (int i = 0; i < 5; i++) {
		found = inject_look(waiter, waiter);
		assert_false(found.ended);
		assert_true(found.blocks);
		sleep_for(2);
	}
	end(taker);
	assert_int_equal(masks_look(waiter), MASKS_BLOCKED);
	end(waiter);
}

/* It has everything blocked, as a child that was forked just now. */
static void test_moment_without_a_cpu(void **unused)
{
	struct inject_thread found;
	int cpu = other_cpu(), looks = 0;
	pid_t child, taker;

	(void)unused;
	if (cpu < 0)
		skip();
	child = begin(spin_blocked, cpu);
	sleep_for(LOOK_MS);
	taker = begin(take_cpu, cpu);
	sleep_for(LOOK_MS);
	found = inject_look(child, child);
	assert_true(found.blocks);
	assert_true(found.in_moment);
	assert_true(found.doubtful);
	end(taker);
	/* It has CPU time enough to leave it, sooner or later. */
	do {
		sleep_for(LOOK_MS);
		found = inject_look(child, child);
	} while (found.doubtful && ++looks < 100);
	assert_true(found.blocks);
	assert_false(found.doubtful);
	assert_int_equal(masks_look(child), MASKS_BLOCKED);
	end(child);
}

static void test_open(void **unused)
{
	void (*const runs[])(void) = {spin, sleep_long, poll_open};

	(void)unused;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		pid_t pid = begin(runs[i], -1);

		sleep_for(LOOK_MS);
		assert_int_equal(masks_look(pid), MASKS_OPEN);
		/* It is proven by then, however busy the machine is. */
		for (int look = 0; look < 100 && inject_look(pid, pid).blocks; look++)
			sleep_for(20);
		assert_false(inject_look(pid, pid).blocks);
		end(pid);
	}
}

static void test_masked_sleep(void **unused)
{
	pid_t pid = begin(poll_unblocked, -1);

	(void)unused;
	sleep_for(LOOK_MS);
	assert_int_equal(masks_look(pid), MASKS_BLOCKED);
	assert_true(inject_look(pid, pid).blocks);
	end(pid);
}

static void test_ended(void **unused)
{
	pid_t pid = begin(sleep_long, -1);

	(void)unused;
	kill(pid, SIGKILL);
	sleep_for(LOOK_MS);
	assert_int_equal(masks_look(pid), MASKS_ENDED);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(masks_look(pid), MASKS_ENDED);
	assert_true(inject_look(pid, pid).ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waiter_without_a_cpu),
		cmocka_unit_test(test_moment_without_a_cpu),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_masked_sleep),
		cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
