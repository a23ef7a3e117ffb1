/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program is about to restrict its system calls: prctl(PR_SET_SECCOMP) and seccomp(2), which
 * libc has no function for. From then on handlers make none. In strict mode even the clock cannot
 * be read (the kernel forbids rdtsc, seccomp_set_mode_strict()): there watching ends. Filters set
 * by raw instructions are noticed by the controller, a moment later (src/control/target.c).
 *
 * Or that they are dispatched to its own handler (PR_SET_SYSCALL_USER_DISPATCH): then not even the
 * return from a signal is the kernel's, and watching ends. Or that its threads may not read the
 * processor's clock (PR_SET_TSC), as the vDSO does.
 *
 * And alternate signal stacks too small for a hit's signal frame on top of another: the handlers
 * that run there are made to block SIGTRAP, as they would overflow.
 */
#include "agent/state.h"

#include "base/syscall.h"
#include "trap/alternate.h"
#include "trap/borrower.h"
#include "trap/ownership.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <trapline/event.h>
#include <unistd.h>

#define HANDLER_ROOM 2048 /* bytes our handler uses below its signal frame */

static struct {
	int (*prctl)(int, ...);
	long (*syscall)(long, ...);
	int (*sigaltstack)(const stack_t *, stack_t *);
} libc;

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor)) static void resolve(void)
{
	if (libc.prctl)
		return;
	RESOLVE(syscall);
	RESOLVE(sigaltstack);
	RESOLVE(prctl);
}

/* All the arguments there can be; those not given are not looked at by the kernel. */
#define COLLECT(first, count)                     \
	long argument[count];                     \
	va_list list;                             \
	va_start(list, first);                    \
	for (int i = 0; i < (count); i++)         \
		argument[i] = va_arg(list, long); \
	va_end(list);

/* A filter that a child which borrows this memory sets is its own. */
static void prepare(bool strict)
{
	if (borrower_is())
		return;
	if ((strict || agent_clock_is_forbidden()) && agent_state.area)
		agent_give_up();
	else
		agent_be_quiet();
}

static void prepare_prctl(long option, long value)
{
	if (option == PR_SET_SECCOMP)
		prepare(value == SECCOMP_MODE_STRICT);
	else if (option == PR_SET_SYSCALL_USER_DISPATCH && value != PR_SYS_DISPATCH_OFF)
		prepare(true);
	else if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV && !agent_forbid_clock())
		prepare(true);
}

TL_API int prctl(int option, ...)
{
	COLLECT(option, 4);
	resolve();
	prepare_prctl(option, argument[0]);
	return libc.prctl(option, argument[0], argument[1], argument[2], argument[3]);
}

/* The kernel's structure (asm/signal.h), not libc's. */
struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* rt_sigaction(2) by number, of a signal that is ours: as sigaction(3) of it. Programs reset all
 * signals so in a child that they have forked (Chromium does), where our watches are on already. */
static long set_owned_action(int signal, const struct kernel_action *action,
			     struct kernel_action *old)
{
	struct sigaction wanted = {0}, before = {0};
	int err;

	if (action) {
		wanted.sa_handler = action->handler;
		wanted.sa_flags = (int)action->flags;
		memcpy(&wanted.sa_mask, &action->mask, sizeof(action->mask));
	}
	err = signal_program_action(signal, action ? &wanted : NULL, &before);
	if (err) {
		errno = -err;
		return -1;
	}
	if (old) {
		*old = (struct kernel_action){.handler = before.sa_handler,
					      .flags = (unsigned)before.sa_flags};
		memcpy(&old->mask, &before.sa_mask, sizeof(old->mask));
	}
	return 0;
}

TL_API long syscall(long number, ...)
{
	COLLECT(number, 6);
	resolve();
	if (number == SYS_rt_sigaction && signal_is_owned((int)argument[0]))
		return set_owned_action((int)argument[0], (const struct kernel_action *)argument[1],
					(struct kernel_action *)argument[2]);
	if (number == SYS_seccomp && argument[0] != SECCOMP_GET_ACTION_AVAIL &&
	    argument[0] != SECCOMP_GET_NOTIF_SIZES)
		prepare(argument[0] == SECCOMP_SET_MODE_STRICT);
	else if (number == SYS_prctl)
		prepare_prctl(argument[0], argument[1]);
	return libc.syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
			    argument[5]);
}

TL_API int sigaltstack(const stack_t *stack, stack_t *old)
{
	size_t frame = getauxval(AT_MINSIGSTKSZ);

	resolve();
	if (agent_state.area && stack && !(stack->ss_flags & SS_DISABLE) &&
	    stack->ss_size < 2 * (frame ? frame : 4096) + HANDLER_ROOM && !borrower_is())
		alternate_stack_is_small();
	return libc.sigaltstack(stack, old);
}
