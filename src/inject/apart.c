/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/apart.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK (256 * 1024)

/* In the process apart: the process that it works for; else 0. Compilers assume that clone() runs
 * nothing of this file (its declaration says "leaf"), and would drop the assignment if this were
 * not volatile. */
static volatile pid_t caller;

struct job {
	apart_fn *work;
	void *context;
	int result;
};

/* The process apart shares the caller's thread-local storage, errno included; the caller stands
 * still meanwhile. It leaves the caller's process group, so that it survives when that is
 * killed. */
static int run(void *argument)
{
	struct job *job = argument;

	setpgid(0, 0);
	job->result = job->work(job->context);
	_exit(0);
}

bool apart_is(void)
{
	return caller && getpid() != caller;
}

bool apart_is_alone(void)
{
	return caller && getppid() != caller;
}

/* The stack is allocated once, since only one thread enters and leaves processes. */
static char *stack_top(void)
{
	static char *stack;

	if (!stack) {
		stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		if (stack == MAP_FAILED)
			stack = NULL;
	}
	return stack ? stack + STACK : NULL;
}

/* No signal tells of the process's end, so nobody takes that for the end of the program that was
 * started. */
int apart_run(apart_fn *work, void *context)
{
	struct job job = {work, context, -ECHILD};
	char *top = stack_top();
	pid_t pid = -1;

	caller = getpid();
	if (top)
		pid = clone(run, top, CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_VFORK, &job);
	caller = 0;
	if (pid < 0)
		return work(context);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	/* Rules of ptrace(2) that depend on descent (kernel.yama.ptrace_scope) may permit the
	 * caller what they forbid to the process apart. */
	return job.result == -EPERM || job.result == -ECHILD ? work(context) : job.result;
}
