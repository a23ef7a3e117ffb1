/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children made in every way that there is beside fork(): each has memory of its own and writes
 * what is watched 50 times.
 */
#include "hostile.h"
#include <linux/sched.h>

int clone(int (*)(void *), void *, int, void *, ...); /* <sched.h> and the above do not mix */

#define MARKS 50

static char stack[65536] __attribute__((aligned(16)));

static void be_child(int status)
{
	for (int i = 0; i < MARKS; i++)
		noise_mark();
	_exit(status);
}

static int body(void *argument)
{
	be_child(*(int *)argument);
	return 9;
}

static void ended(const char *how, long child)
{
	expect(child > 0);
	say_end(how, (pid_t)child);
}

int main(void)
{
	struct clone_args arguments = {.exit_signal = SIGCHLD};
	int status = 6;
	long child;

	noise_start();
	child = _Fork();
	if (child == 0)
		be_child(1);
	ended("_Fork", child);
	child = syscall(SYS_fork);
	if (child == 0)
		be_child(2);
	ended("fork by number", child);
	child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
	if (child == 0)
		be_child(3);
	ended("clone by number", child);
	child = syscall(SYS_clone3, &arguments, sizeof(arguments));
	if (child == 0)
		be_child(4);
	ended("clone3 by number", child);
	child = syscall(SYS_clone, SIGCHLD | CLONE_VFORK, NULL, NULL, NULL, 0);
	if (child == 0)
		be_child(5);
	ended("clone by number, waited for", child);
	ended("clone", clone(body, stack + sizeof(stack), SIGCHLD, &status));
	child = syscall(SYS_clone3, (void *)8, sizeof(arguments));
	say("clone without arguments: %ld, %d", child, errno);
	say("clone without all: %d", clone(NULL, NULL, SIGCHLD, NULL));
	nap(1000000); /* time for the race, whose threads have had next to none */
	noise_stop();
	return 0;
}
