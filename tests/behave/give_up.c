/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run as `trapline race -- give_up`. What cannot be watched and go on is watched no longer, and the
 * program waits until that is so, also where the controller gets no processor for a while: here it
 * is stopped for longer than a process waits to be watched.
 */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>

static volatile bool stopped, going_on;

static void *stop_controller(void *argument)
{
	pid_t controller = getppid();

	CHECK(kill(controller, SIGSTOP) == 0);
	stopped = true;
	usleep(400000);
	going_on = true;
	CHECK(kill(controller, SIGCONT) == 0);
	return argument;
}

static pthread_t begin(void)
{
	pthread_t thread;

	stopped = going_on = false;
	CHECK(pthread_create(&thread, NULL, stop_controller, NULL) == 0);
	while (!stopped)
		usleep(1000);
	return thread;
}

static void debug_a_child(void)
{
	pid_t child = fork();
	pthread_t thread;
	bool in_time;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	thread = begin();
	CHECK(ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0);
	in_time = going_on;
	pthread_join(thread, NULL);
	CHECK(in_time, "the child was debugged while it was watched");
	CHECK(kill(child, SIGKILL) == 0);
	CHECK(waitpid(child, NULL, 0) == child);
}

static void wait_for_traps(void)
{
	pthread_t thread = begin();
	sigset_t trap;
	bool in_time;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	CHECK(pthread_sigmask(SIG_BLOCK, &trap, NULL) == 0);
	CHECK(signalfd(-1, &trap, SFD_NONBLOCK) >= 0);
	in_time = going_on;
	pthread_join(thread, NULL);
	CHECK(in_time, "the signalfd was there while the process was watched");
}

int main(void)
{
	char name[64], path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)getppid());
	file = fopen(path, "r");
	CHECK(file && fgets(name, sizeof(name), file));
	fclose(file);
	if (strcmp(name, "trapline\n") != 0)
		check_skip("not run by trapline");
	debug_a_child();
	wait_for_traps();
	return 0;
}
