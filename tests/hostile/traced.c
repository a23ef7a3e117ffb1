/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs itself under a tracer of its own from its first instruction on, as strace does: every system
 * call and every signal stops it, and no SIGTRAP may come that it did not cause. A second time the
 * tracer comes later.
 */
#include "hostile.h"
#include <sys/ptrace.h>

static int run_traced(void)
{
	noise_start();
	nap(1500000);
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

static int trace(char **argv, int later)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	pid_t child = fork();

	if (child == 0) {
		if (!later)
			nap(100000);
		execl(argv[0], argv[0], "traced", (char *)NULL);
		_exit(9);
	}
	/* Before the child executes, or in the midst of its run. */
	nap(later ? 700000 : 20000);
	if (ptrace(PTRACE_SEIZE, child, 0, options)) {
		kill(child, SIGKILL);
		return -99;
	}
	return follow(child);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_traced();
	noise_start();
	say("from the start: ended %d", trace(argv, 0));
	say("from later on: ended %d", trace(argv, 1));
	noise_stop();
	return 0;
}
