/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs itself under a tracer of its own from its first instruction on, as strace does: every system
 * call and every signal stops it, and no SIGTRAP may come that it did not cause. A second time the
 * tracer comes later: when the program has made its marks. Each waits for the other, however long
 * it takes.
 */
#include "hostile.h"
#include <sys/ptrace.h>

/* Pipes: `marked` to the tracer, `seized` from it. */
static int run_traced(int marked, int seized)
{
	char mark;

	noise_start();
	while (noise_marks < NOISE_MARKS)
		nap(1000);
	expect(write(marked, "m", 1) == 1);
	expect(read(seized, &mark, 1) == 1);
	nap(500000);
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

static void become_traced(const char *program, int marked, int seized, int later)
{
	char to[16], from[16], mark;

	if (!later)
		expect(read(seized, &mark, 1) == 1);
	snprintf(to, sizeof(to), "%d", marked);
	snprintf(from, sizeof(from), "%d", seized);
	execl(program, program, to, from, (char *)NULL);
	_exit(9);
}

static int trace(char **argv, int later)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	int marked[2], seized[2];
	pid_t child;
	char mark;

	expect(pipe(marked) == 0 && pipe(seized) == 0);
	child = fork();
	if (child == 0)
		become_traced(argv[0], marked[1], seized[0], later);
	/* Before the child executes, or in the midst of its run. */
	if (later)
		expect(read(marked[0], &mark, 1) == 1);
	else
		nap(20000);
	if (ptrace(PTRACE_SEIZE, child, 0, options)) {
		kill(child, SIGKILL);
		return -99;
	}
	expect(write(seized[1], "ss", 2) == 2);
	return follow(child);
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return run_traced(atoi(argv[1]), atoi(argv[2]));
	noise_start();
	say("from the start: ended %d", trace(argv, 0));
	say("from later on: ended %d", trace(argv, 1));
	noise_stop();
	return 0;
}
