/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What actions find: `act WRITES` writes `counter` in its second thread, and tells on SIGABRT what
 * the counter was and whether the signal came right after the write, in increment().
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

extern void increment(void);
extern void after(void);
volatile int counter;
static int writes;

__attribute__((noinline)) void increment(void)
{
	counter = counter + 1; /* the write */
}

/* Follows increment() in the file and hence in memory: -fno-reorder-functions. */
__attribute__((noinline)) void after(void)
{
	counter = 0;
}

static void on_abort(int signal, siginfo_t *info, void *context)
{
	char text[64];
	greg_t pc = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	int length = snprintf(text, sizeof(text), "%d %s\n", counter,
			      pc > (greg_t)increment && pc < (greg_t)after ? "in increment"
									   : "elsewhere");

	(void)signal;
	(void)info;
	if (write(STDOUT_FILENO, text, (size_t)length) != length)
		_exit(2);
	_exit(6);
}

static void *work(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "writer");
	for (int i = 0; i < writes; i++)
		increment();
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_abort, .sa_flags = SA_SIGINFO};
	pthread_t thread;

	writes = argc > 1 ? atoi(argv[1]) : 1;
	sigaction(SIGABRT, &action, NULL);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	printf("%d\n", counter);
	return 7;
}
