/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system() and popen() in several threads at once, while another changes the environment; and what
 * POSIX and the GNU C Library say of them, one by one. The environment is nobody's but the
 * program's: a thread that looks at it all the time sees the same array, and nothing strange in it.
 */
#include "hostile.h"

#define THREADS 3
#define ROUNDS 8

extern char **environ;

static int over, strange, moves;
static char **first_environment;

static void *look(void *argument)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		if (environ != first_environment || getenv("TRAPLINE_AREA"))
			strange++;
		nap(200);
	}
	return argument;
}

static void *change(void *argument)
{
	char name[40];

	for (unsigned i = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
		snprintf(name, sizeof(name), "CHANGED_%u", i % 3000);
		expect(setenv(name, i % 2 ? "a value" : "another value, which is longer", 1) == 0);
		if (i % 5 == 0)
			unsetenv(name);
		nap(20);
	}
	return argument;
}

static void *call(void *argument)
{
	char line[100];
	FILE *stream;

	for (int i = 0; i < ROUNDS; i++) {
		int status = WEXITSTATUS(system("sleep 0.01; exit 3"));

		/* Bare too, the kernel may refuse an environment that is being moved. */
		expect(status == 3 || (moves && status == 127));
		stream = popen("echo here", "r");
		expect(stream || moves);
		if (!stream)
			continue;
		expect(fgets(line, sizeof(line), stream));
		expect(strcmp(line, "here\n") == 0 && pclose(stream) == 0);
	}
	return argument;
}

static void all_at_once(void *(*beside)(void *))
{
	pthread_t other, threads[THREADS];

	over = 0;
	moves = beside == change;
	first_environment = environ;
	expect(pthread_create(&other, NULL, beside, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		expect(pthread_create(&threads[i], NULL, call, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		expect(pthread_join(threads[i], NULL) == 0);
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	expect(pthread_join(other, NULL) == 0);
	say("the environment was strange %d times", strange);
}

static void say_signals(void)
{
	struct sigaction interrupt, quit;
	sigset_t mask;

	expect(sigaction(SIGINT, NULL, &interrupt) == 0 && sigaction(SIGQUIT, NULL, &quit) == 0);
	expect(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
	say("SIGINT %d, SIGQUIT %d, SIGCHLD blocked %d", interrupt.sa_handler == SIG_IGN,
	    quit.sa_handler == SIG_IGN, sigismember(&mask, SIGCHLD));
}

static void *call_long(void *argument)
{
	*(int *)argument = 1;
	system("exec sleep 100");
	return argument;
}

static void test_system(void)
{
	pthread_t thread;
	void *result;
	int begun = 0;

	say("system: %d %d %d", system(NULL), WEXITSTATUS(system("exit 9")),
	    system("kill -TERM $$"));
	say("interrupted: %d", system("kill -INT $PPID; kill -QUIT $PPID; exit 0"));
	say("not found: %d", WEXITSTATUS(system("/nowhere/at/all 2>/dev/null")));
	say("in the shell: %d", system("trap 'exit 7' INT; kill -INT $$; exit 8") >> 8);
	expect(pthread_create(&thread, NULL, call_long, &begun) == 0);
	nap(300000);
	expect(begun && pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
	say("cancelled: %d, child left: %d", result == PTHREAD_CANCELED,
	    waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD);
	say_signals();
}

static void test_popen(void)
{
	int (*volatile close_plainly)(FILE *) = fclose; /* a compiler would warn */
	FILE *first = popen("cat >/dev/null", "w"), *second, *third;
	char line[100] = "";

	expect(first);
	/* Would wait for ever if the child had the first stream's end of the pipe. */
	second = popen("cat", "we");
	third = popen("exec 0</dev/null; ls /proc/self/fd | wc -l", "r");
	expect(second && third && fgets(line, sizeof(line), third));
	say("descriptors of a child: %d", atoi(line));
	say("close-on-exec: %d %d", fcntl(fileno(first), F_GETFD), fcntl(fileno(second), F_GETFD));
	say("closed: %d", pclose(first));
	say("written: %d", fputs("through a pipe\n", second) >= 0);
	say("by fclose: %d %d", close_plainly(second), close_plainly(third));
	say("children left: %d", waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD);
	say("status: %d", WEXITSTATUS(pclose(popen("exit 5", "r"))));
	expect(popen("true", "rw") == NULL && errno == EINVAL);
	expect(popen("true", "x") == NULL && errno == EINVAL);
	close(0);
	first = popen("cat", "w");
	expect(first && fputs("standard input is closed\n", first) >= 0 && pclose(first) == 0);
	say_signals();
}

int main(void)
{
	noise_start();
	test_system();
	test_popen();
	all_at_once(look);
	all_at_once(change);
	noise_stop();
	return 0;
}
