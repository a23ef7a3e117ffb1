/* SPDX-License-Identifier: Apache-2.0 */
/* A debugger of its own: traces a child with int3 breakpoints and single steps. */
#include "hostile.h"
#include <sys/ptrace.h>
#include <sys/user.h>

static volatile long visits;

__attribute__((noinline)) static void visited(void)
{
	visits++;
	__asm__ volatile("");
}

static void run_child(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(SKIP);
	raise(SIGSTOP);
	for (int i = 0; i < 20; i++)
		visited();
	_exit(visits == 20 ? 0 : 1);
}

/* Puts the original instruction back for one step and the breakpoint in again. */
static void step_over(pid_t child, long original, long patched)
{
	struct user_regs_struct registers;
	int status;

	expect(ptrace(PTRACE_GETREGS, child, NULL, &registers) == 0);
	expect(registers.rip == (uintptr_t)visited + 1);
	registers.rip--;
	expect(ptrace(PTRACE_SETREGS, child, NULL, &registers) == 0);
	expect(ptrace(PTRACE_POKETEXT, child, visited, original) == 0);
	expect(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
	expect(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	expect(WSTOPSIG(status) == SIGTRAP);
	expect(ptrace(PTRACE_POKETEXT, child, visited, patched) == 0);
}

int main(void)
{
	int status, stops = 0;
	long original, patched;
	pid_t child;

	noise_start();
	child = fork();
	if (child == 0)
		run_child();
	expect(child > 0 && waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIP)
		return SKIP;
	expect(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	errno = 0;
	original = ptrace(PTRACE_PEEKTEXT, child, visited, NULL);
	expect(errno == 0);
	patched = (original & ~0xffL) | 0xcc;
	expect(ptrace(PTRACE_POKETEXT, child, visited, patched) == 0);
	for (;;) {
		expect(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
		expect(waitpid(child, &status, 0) == child);
		if (!WIFSTOPPED(status))
			break;
		expect(WSTOPSIG(status) == SIGTRAP);
		stops++;
		step_over(child, original, patched);
	}
	say("%d stops, child exited %d", stops, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	nap(500000);
	noise_stop();
	return 0;
}
