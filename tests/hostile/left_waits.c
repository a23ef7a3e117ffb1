/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for SIGTRAP that are left by cancellation and by a handler's jump, more often than anybody
 * keeps account of, or that a handler interrupts: who waits besides or afterwards gets the signal.
 */
#include "hostile.h"
#include <setjmp.h>
#include <time.h>

#define LEFT 150

static __thread sigjmp_buf back;
static jmp_buf plain;
static volatile int waiting, stage;

static sigset_t set_of_trap(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	return set;
}

static void *wait_for_ever(void *arg)
{
	sigset_t set = set_of_trap();
	siginfo_t info;

	waiting = 1;
	sigwaitinfo(&set, &info);
	return arg;
}

static void *wait_openly(void *arg)
{
	sigset_t none;

	sigemptyset(&none);
	waiting = 1;
	sigsuspend(&none);
	return arg;
}

static void cancel_one(void *(*body)(void *))
{
	pthread_t thread;
	void *result;

	waiting = 0;
	expect(pthread_create(&thread, NULL, body, NULL) == 0);
	while (!waiting)
		nap(50);
	nap(200);
	expect(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
	expect(result == PTHREAD_CANCELED);
}

static void jump_back(int number)
{
	siglongjmp(back, number);
}

/* The thread goes on after it, with the mask of before. */
static void *jump_out(void *arg)
{
	sigset_t trap = set_of_trap(), suspended, mask;

	expect(pthread_sigmask(SIG_BLOCK, &trap, NULL) == 0);
	sigemptyset(&suspended);
	for (volatile int i = 0; i < LEFT; i++) {
		if (sigsetjmp(back, 1) == 0) {
			struct itimerspec soon = {.it_value = {0, 100000}};
			struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
						 .sigev_signo = SIGUSR1};
			timer_t timer;

			event._sigev_un._tid = (int)syscall(SYS_gettid);
			expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
			expect(timer_settime(timer, 0, &soon, NULL) == 0);
			sigsuspend(&suspended);
		}
	}
	expect(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
	say("after the jumps SIGTRAP is %s", sigismember(&mask, SIGTRAP) ? "blocked" : "open");
	waiting = 2;
	nap(3000000);
	return arg;
}

static void *take_one(void *arg)
{
	const struct timespec most = {2, 0};
	sigset_t set = set_of_trap();
	siginfo_t info;
	int number;

	waiting = 1;
	number = sigtimedwait(&set, &info, &most);
	say("%s: %s", (const char *)arg, number == SIGTRAP ? "taken" : "never came");
	return NULL;
}

static pthread_t start(void *(*body)(void *), const char *when)
{
	pthread_t thread;

	waiting = 0;
	expect(pthread_create(&thread, NULL, body, (void *)when) == 0);
	while (!waiting)
		nap(50);
	nap(20000);
	return thread;
}

static void send_to(pthread_t thread)
{
	expect(kill(getpid(), SIGTRAP) == 0);
	expect(pthread_join(thread, NULL) == 0);
}

static void send_to_one(const char *when)
{
	send_to(start(take_one, when));
}

static void await(int wanted)
{
	while (stage != wanted)
		nap(50);
}

static void block_and_dawdle(int number)
{
	sigset_t trap = set_of_trap();

	(void)number;
	expect(pthread_sigmask(SIG_BLOCK, &trap, NULL) == 0);
	stage = 1;
	await(2);
}

/* SIGUSR2 comes in the call, not before it. */
static void *wait_for_a_handler(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	expect(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	return wait_openly(arg);
}

/* The one that waits first does not want the signal in its handler, from which it comes back when
 * others wait. */
static void send_past_a_handler(void)
{
	struct sigaction action = {.sa_handler = block_and_dawdle};
	pthread_t first, later;

	expect(sigaction(SIGUSR2, &action, NULL) == 0);
	first = start(wait_for_a_handler, NULL);
	stage = 0;
	expect(pthread_kill(first, SIGUSR2) == 0);
	await(1);
	send_to_one("past a handler");
	later = start(take_one, "after the handler");
	stage = 2;
	expect(pthread_join(first, NULL) == 0);
	send_to(later);
}

static void say_mask(void *where)
{
	sigset_t mask;

	expect(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
	say("%s SIGTRAP is %s", (const char *)where,
	    sigismember(&mask, SIGTRAP) ? "blocked" : "open");
}

static void dawdle(void *arg)
{
	(void)arg;
	say_mask("in the cleanup of a wait");
	stage = 1;
	await(2);
}

static void *wait_and_dawdle(void *arg)
{
	pthread_cleanup_push(dawdle, NULL);
	wait_for_ever(arg);
	pthread_cleanup_pop(0);
	return arg;
}

/* The one that waits first is cancelled, and cleans up when the signal comes. */
static void send_past_a_cleanup(void)
{
	pthread_t first = start(wait_and_dawdle, NULL);

	stage = 0;
	expect(pthread_cancel(first) == 0);
	await(1);
	send_to_one("past a cleanup");
	stage = 2;
	expect(pthread_join(first, NULL) == 0);
}

static void jump_plainly(int number)
{
	longjmp(plain, number);
}

static void *wait_and_jump(void *arg)
{
	if (_setjmp(plain) == 0)
		wait_for_ever(arg);
	say_mask("after a plain jump");
	stage = 1;
	await(2);
	return arg;
}

/* The one that waits first is taken out of it by a handler, whose mask it keeps. */
static void send_past_a_jump(void)
{
	struct sigaction action = {.sa_handler = jump_plainly};
	pthread_t first;

	expect(sigaction(SIGUSR2, &action, NULL) == 0);
	first = start(wait_and_jump, NULL);
	stage = 0;
	expect(pthread_kill(first, SIGUSR2) == 0);
	await(1);
	send_to_one("past a jump");
	stage = 2;
	expect(pthread_join(first, NULL) == 0);
}

int main(void)
{
	struct sigaction action = {.sa_handler = jump_back};
	sigset_t trap = set_of_trap();
	pthread_t jumper;

	expect(sigaction(SIGUSR1, &action, NULL) == 0);
	expect(pthread_sigmask(SIG_BLOCK, &trap, NULL) == 0);
	noise_start();
	send_to_one("before");
	send_past_a_handler();
	send_past_a_cleanup();
	send_past_a_jump();
	for (int i = 0; i < LEFT; i++)
		cancel_one(i % 2 ? wait_for_ever : wait_openly);
	send_to_one("after cancellations");
	expect(pthread_create(&jumper, NULL, jump_out, NULL) == 0);
	while (waiting != 2)
		nap(50);
	send_to_one("after jumps");
	expect(pthread_join(jumper, NULL) == 0);
	noise_stop();
	return 0;
}
