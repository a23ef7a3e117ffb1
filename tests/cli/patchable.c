/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for tests/cli/patch.py: answers each line of its input, while threads call what is
 * being replaced and check each result.
 *
 *	call	prints "value 1 second 2"
 *	third	prints "third 3"
 *	new	says that from now on patches are only applied
 *	old	says that from now on they are only reverted
 *	mixed	prints how often a thread saw the one step back that cannot be on the way there
 *	close	closes every descriptor but the standard ones
 *	fork	goes on in a child and prints its process id
 *	user	becomes user 65534
 *	handle	sets its own handler of SIGILL, raises it, and prints how often it ran
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nothing is known of it where it is called. */
#ifdef __clang__
#define CALLED __attribute__((noinline, optnone, used))
#else
#define CALLED __attribute__((noipa, used))
#endif

CALLED int value(int x)
{
	return x + 1;
}

CALLED static int second(int x)
{
	return x * 3 + 2;
}

CALLED static int third(int x)
{
	return x * 5 + 3;
}

static inline __attribute__((always_inline)) int doubled(int x)
{
	return x * 2;
}

/* Also exists out of line. */
int (*volatile doubled_pointer)(int) = doubled;

CALLED int uses_doubled(int x)
{
	return doubled(x) + 1;
}

static int chosen_now(int x)
{
	return x;
}

__attribute__((used)) static int (*choose(void))(int)
{
	return chosen_now;
}

int chosen(int x) __attribute__((ifunc("choose")));

int loops(int x);
__asm__(".text\n.globl loops\n.type loops,@function\nloops:\n.cfi_startproc\n"
	"dec %edi\n jns loops\n mov $7,%eax\n ret\n.cfi_endproc\n.size loops,.-loops\n");

int variable = 3;
static volatile bool stop;
static long mixed;
static int ways; /* how often the way that patches go has changed; odd: they are applied */

/*
 * value() is new when second() is: on the way to new ones no thread sees a new one first and an old
 * one after it, and none the other way round on the way back.
 */
static void *caller(void *arg)
{
	(void)arg;
	while (!stop) {
		int before = __atomic_load_n(&ways, __ATOMIC_ACQUIRE);
		int first = value(0), then = second(0);
		bool wrong = before % 2 ? first == 1001 && then == 2 : first == 1 && then == 1002;

		if ((first != 1 && first != 1001) || (then != 2 && then != 1002))
			abort();
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (wrong && __atomic_load_n(&ways, __ATOMIC_RELAXED) == before)
			__atomic_fetch_add(&mixed, 1, __ATOMIC_RELAXED);
		usleep(50);
	}
	return NULL;
}

static void start_callers(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread, NULL, caller, NULL))
			abort();
}

/* Returns how often the way has changed. */
static int go(int parity)
{
	int change = __atomic_load_n(&ways, __ATOMIC_RELAXED);

	if (change % 2 != parity)
		__atomic_store_n(&ways, ++change, __ATOMIC_RELEASE);
	return change;
}

static void go_on_in_child(void)
{
	pid_t child = fork();

	if (child > 0) {
		int status;

		waitpid(child, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
	}
	printf("pid %d\n", getpid());
}

static volatile sig_atomic_t handled;

static void on_illegal(int signal)
{
	(void)signal;
	handled = handled + 1;
}

static int handle(void)
{
	struct sigaction action = {.sa_handler = on_illegal};

	sigaction(SIGILL, &action, NULL);
	raise(SIGILL);
	return handled;
}

static void obey(const char *line)
{
	if (!strcmp(line, "call\n"))
		printf("value %d second %d\n", value(0), second(0));
	else if (!strcmp(line, "third\n"))
		printf("third %d\n", third(0));
	else if (!strcmp(line, "new\n"))
		printf("towards new, change %d\n", go(1));
	else if (!strcmp(line, "old\n"))
		printf("towards old, change %d\n", go(0));
	else if (!strcmp(line, "mixed\n"))
		printf("mixed %ld\n", mixed);
	else if (!strcmp(line, "fork\n"))
		go_on_in_child();
	else if (!strcmp(line, "user\n"))
		printf("user %d\n", setgid(65534) || setuid(65534) ? -1 : 65534);
	else if (!strcmp(line, "handle\n"))
		printf("handled %d\n", handle());
	else if (!strcmp(line, "close\n"))
		printf("closed %d\n", close_range(3, ~0u, 0));
	fflush(stdout);
}

int main(void)
{
	char line[64];

	start_callers();
	printf("pid %d doubled %d chosen %d loops %d\n", getpid(), uses_doubled(variable),
	       chosen(4), loops(3));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	stop = true;
	return 0;
}
