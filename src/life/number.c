/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall(2), by which programs make system calls that libc has no function for, and some that it
 * has: those that are interposed by name are interposed by number here. Everything else goes on in
 * libc's function by a jump, as if that had been called directly: a call that returns twice on one
 * stack, such as vfork(2) by number, finds the stack as its caller left it.
 */
#include "agent/arch.h"
#include "agent/guard.h"
#include "agent/readable.h"
#include "agent/state.h"
#include "base/syscall.h"
#include "life/filter.h"
#include "life/process.h"
#include "mask/mask.h"
#include "signal/borrower.h"
#include "signal/ownership.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <trapline/event.h>
#include <unistd.h>

#define KERNEL_SET sizeof(uint64_t)

typedef long call_fn(long, long, long, long, long, long, long);

static call_fn *libc_syscall;

/* Runs before our constructors that look for names which may not exist. An allocator may call
 * syscall() as it begins, and dlsym() would then free, by that allocator, what an unsuccessful
 * search has left. */
__attribute__((constructor(101))) static void resolve(void)
{
	if (!libc_syscall)
		libc_syscall = (call_fn *)dlsym(RTLD_NEXT, "syscall");
}

static long result_of(long result)
{
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

/* ------------------------------------------------------------------------------------------- */
/* Signals */

/* The kernel's structure (asm/signal.h), not libc's. */
struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* rt_sigaction(2) by number, for a signal that is ours: done as sigaction(3) does it. Programs
 * reset all signals by it in a forked child (Chromium does), where our watches are on already. */
static long set_owned_action(int signal, const struct kernel_action *given,
			     struct kernel_action *old)
{
	struct sigaction wanted = {0}, before = {0};
	struct kernel_action action;
	int err;

	if (given) {
		if (readable_copy(&action, given, sizeof(action)) != sizeof(action))
			return -EFAULT;
		wanted.sa_handler = action.handler;
		wanted.sa_flags = (int)action.flags;
		wanted.sa_restorer = action.restorer;
		memcpy(&wanted.sa_mask, &action.mask, sizeof(action.mask));
	}
	err = signal_program_action(signal, given ? &wanted : NULL, &before);
	if (err)
		return err;
	if (old) {
		/* The kernel, too, has changed the action before it fails to write the old one
		 * (kernel/signal.c). */
		if (!readable_is_writable(old, sizeof(*old)))
			return -EFAULT;
		*old = (struct kernel_action){.handler = before.sa_handler,
					      .flags = (unsigned)before.sa_flags,
					      .restorer = before.sa_restorer};
		memcpy(&old->mask, &before.sa_mask, sizeof(old->mask));
	}
	return 0;
}

static long action_by_number(long number, long signal, long action, long old, long size, long a,
			     long b)
{
	(void)number, (void)a, (void)b;
	if (size != KERNEL_SET)
		return result_of(-EINVAL);
	return result_of(set_owned_action((int)signal, (const struct kernel_action *)action,
					  (struct kernel_action *)old));
}

static long mask_by_number(long number, long how, long set, long old, long size, long a, long b)
{
	uint64_t given;

	/* Arguments that the kernel refuses are passed to it unchanged, so that the error is its
	 * own. */
	if (size != KERNEL_SET ||
	    (set && readable_copy(&given, (void *)set, KERNEL_SET) != KERNEL_SET))
		return libc_syscall(number, how, set, old, size, a, b);
	return result_of(mask_change((int)how, set ? &given : NULL, (uint64_t *)old));
}

/* ------------------------------------------------------------------------------------------- */
/* Children and programs */

static long fork_by_number(long number, long a, long b, long c, long d, long e, long f)
{
	long child;

	agent_before_fork();
	child = libc_syscall(number, a, b, c, d, e, f);
	if (child == 0)
		agent_in_child();
	else
		agent_after_fork();
	return child;
}

static long execve_by_number(long number, long path, long argv, long environment, long a, long b,
			     long c)
{
	(void)number, (void)a, (void)b, (void)c;
	return execve((const char *)path, (char *const *)argv, (char *const *)environment);
}

static long execveat_by_number(long number, long directory, long path, long argv, long environment,
			       long flags, long a)
{
	(void)number, (void)a;
	return execveat((int)directory, (const char *)path, (char *const *)argv,
			(char *const *)environment, (int)flags);
}

/* A clone(2) that begins on another stack does not come back here. */
static call_fn *clone_with(uint64_t flags, bool other_stack)
{
	const uint64_t sharing = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;

	if ((flags & sharing) == (CLONE_VM | CLONE_SIGHAND))
		borrower_share();
	if (flags & CLONE_VM)
		return libc_syscall;
	if (!other_stack)
		return fork_by_number;
	agent_note_unseen();
	return libc_syscall;
}

static call_fn *clone3_with(const void *given)
{
	struct clone_args arguments = {0};

	if (readable_copy(&arguments, given, CLONE_ARGS_SIZE_VER0) != CLONE_ARGS_SIZE_VER0)
		return libc_syscall;
	return clone_with(arguments.flags, arguments.stack);
}

/* ------------------------------------------------------------------------------------------- */

/* Notes a new limit of this process. */
static void note_limit(long resource, long limit)
{
	if (agent_state.guard)
		agent_state.guard->limit(resource, (const void *)limit);
}

/* Returns the function in which the call goes on with its arguments unchanged. */
__attribute__((used, visibility("hidden"))) call_fn *number_choose(long number, long first,
								   long second, long third)
{
	resolve();
	switch (number) {
	case SYS_rt_sigaction:
		return signal_is_owned((int)first) ? action_by_number : libc_syscall;
	case SYS_rt_sigprocmask:
		return mask_is_kept() ? mask_by_number : libc_syscall;
	case SYS_signalfd:
	case SYS_signalfd4:
		mask_before_signalfd((const void *)second);
		return libc_syscall;
	case SYS_execve:
		return execve_by_number;
	case SYS_execveat:
		return execveat_by_number;
	case SYS_fork:
		return fork_by_number;
	case SYS_clone:
		return clone_with((uint64_t)first, second);
	case SYS_clone3:
		return clone3_with((const void *)first);
	case SYS_seccomp:
		filter_before_seccomp(first, third);
		return libc_syscall;
	case SYS_setrlimit:
		note_limit(first, second);
		return libc_syscall;
	case SYS_prlimit64:
		if (!first || first == raw_getpid())
			note_limit(second, third);
		return libc_syscall;
	case SYS_mlockall:
		if (agent_state.guard)
			agent_state.guard->lock();
		return libc_syscall;
	case SYS_prctl:
		filter_before_prctl(first, second, third);
		return libc_syscall;
	default:
		return libc_syscall;
	}
}

AGENT_ENTRY_OF_SIX(syscall, number_choose);
