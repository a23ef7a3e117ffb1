/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs itself under a tracer of its own from its first instruction on, as strace does: every system
 * call and every signal stops it, and no SIGTRAP may come that it did not cause. A second time the
 * tracer comes later: when the program has made its marks, however long that takes.
 */
#include "hostile.h"
#include <sys/ptrace.h>

static int run_traced(int marked)
{
	noise_start();
	while (noise_marks < NOISE_MARKS)
		nap(1000);
	expect(write(marked, "m", 1) == 1);
	nap(1000000);
	noise_stop();
	say("traced program done");
	return 3;
}

static int follow(pid_t child)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		int signal = 0;

		if (!WIFSTOPPED(status)) {
			if (tid == child)
				return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
			continue;
		}
		if (WSTOPSIG(status) != (SIGTRAP | 0x80) && !(status >> 16))
			signal = WSTOPSIG(status);
		if (signal == SIGTRAP)
			say("a SIGTRAP from nowhere");
		ptrace(PTRACE_SYSCALL, tid, 0, signal);
	}
	return -1;
}

static void become_traced(const char *program, int marked, int later)
{
	char number[16];

	if (!later)
		nap(100000);
	snprintf(number, sizeof(number), "%d", marked);
	execl(program, program, number, (char *)NULL);
	_exit(9);
}

static int trace(char **argv, int later)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	int marked[2];
	pid_t child;
	char mark;

	expect(pipe(marked) == 0);
	child = fork();
	if (child == 0)
		become_traced(argv[0], marked[1], later);
	/* Before the child executes, or in the midst of its run. */
	if (later)
		expect(read(marked[0], &mark, 1) == 1);
	else
		nap(20000);
	if (ptrace(PTRACE_SEIZE, child, 0, options)) {
		kill(child, SIGKILL);
		return -99;
	}
	return follow(child);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_traced(atoi(argv[1]));
	noise_start();
	say("from the start: ended %d", trace(argv, 0));
	say("from later on: ended %d", trace(argv, 1));
	noise_stop();
	return 0;
}
