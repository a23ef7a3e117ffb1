/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs whose signal state changes while they are watched: `signals WHAT`. It says "ready" when
 *it runs, does WHAT at the first line of standard input, says "done", and ends at the second line
 *with what came of it.
 *
 *	interrupts	it says of its own action of SIGTRAP that calls are to end by it
 *	takes		it sets an action of SIGTRAP; what came to that later than LATER, of which
 *			nothing was sent
 *	limited		the same, by one thread that computes all the time
 *	masked		two threads begin that race and sleep in ppoll(2) alone, with a mask for
 *that begun		the same, from its start
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 2
#define LATER 2 /* s */

static volatile long racy;
static volatile sig_atomic_t over, traps;

static void on_trap(int number)
{
	(void)number;
	traps++;
}

static void *race(void *unused)
{
	while (!over) {
		const struct timespec pause = {0, 1000000};

		for (int i = 0; i < 300; i++)
			racy++;
		nanosleep(&pause, NULL);
	}
	return unused;
}

static void *race_masked(void *unused)
{
	sigset_t none;

	sigemptyset(&none);
	while (!over) {
		const struct timespec pause = {0, 1000000};

		for (int i = 0; i < 300; i++)
			racy++;
		ppoll(NULL, 0, &pause, &none);
	}
	return unused;
}

static void *compute(void *unused)
{
	while (!over)
		__asm__ volatile("");
	return unused;
}

static void *idle(void *unused)
{
	while (!over)
		usleep(1000);
	return unused;
}

static pthread_t thread[THREADS + 1];
static int threads;

static void begin(void *(*work)(void *), int count)
{
	for (int i = 0; i < count; i++)
		if (!pthread_create(&thread[threads], NULL, work, NULL))
			threads++;
}

static void say(const char *what)
{
	puts(what);
	fflush(stdout);
}

static void wait_for_line(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
		;
}

/* The sleep is one that hits do not end early, since calls may end by them now. */
static void take(void)
{
	struct sigaction action = {.sa_handler = on_trap, .sa_flags = SA_RESTART};
	struct timespec left = {LATER, 0};

	sigaction(SIGTRAP, &action, NULL);
	while (nanosleep(&left, &left))
		;
	traps = 0;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct sigaction action = {.sa_handler = on_trap, .sa_flags = SA_RESTART};

	if (strcmp(what, "interrupts") == 0)
		sigaction(SIGTRAP, &action, NULL);
	if (strcmp(what, "masked") == 0)
		begin(idle, 1);
	else if (strcmp(what, "limited") == 0)
		begin(compute, 1);
	else
		begin(strcmp(what, "begun") == 0 ? race_masked : race, THREADS);
	say("ready");
	wait_for_line();
	if (strcmp(what, "interrupts") == 0)
		siginterrupt(SIGTRAP, 1);
	else if (strcmp(what, "takes") == 0 || strcmp(what, "limited") == 0)
		take();
	else if (strcmp(what, "masked") == 0)
		begin(race_masked, THREADS);
	say("done");
	wait_for_line();
	sigaction(SIGTRAP, NULL, &action);
	printf("%s %s, %d traps\n", action.sa_handler == on_trap ? "own" : "default",
	       action.sa_flags & SA_RESTART ? "restarts" : "interrupts", (int)traps);
	over = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
