/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that handler.c calls, for a process without the preload library (src/inject): made
 * from system calls alone, with no libc, no thread-local storage and no relocation. In the preload
 * library the same functions use libc, or interpose its functions.
 *
 * The program's action of SIGTRAP was noted when ours took its place. Nothing here notices when the
 * program sets another one: the controller looks for that (src/arrival/enter.c).
 */
#include "handler/alone.h"

#include "agent/arch.h"
#include "agent/state.h"
#include "base/perf_siginfo.h"
#include "base/syscall.h"
#include "handler/choose.h"
#include "mask/mask.h"
#include "signal/arch.h"
#include "signal/cause.h"
#include "signal/ownership.h"

#include <string.h>

_Static_assert(offsetof(struct agent_state, area) == offsetof(struct injected_state, area) &&
		       offsetof(struct agent_state, process) ==
			       offsetof(struct injected_state, process) &&
		       offsetof(struct agent_state, index) ==
			       offsetof(struct injected_state, index) &&
		       offsetof(struct agent_state, hold_most) ==
			       offsetof(struct injected_state, hold_most) &&
		       offsetof(struct agent_state, handlers) ==
			       offsetof(struct injected_state, handlers) &&
		       offsetof(struct agent_state, can_read_fs_base) ==
			       offsetof(struct injected_state, can_read_fs_base) &&
		       offsetof(struct agent_state, opmask_at) ==
			       offsetof(struct injected_state, opmask_at),
	       "the controller writes the beginning of agent_state");
_Static_assert(sizeof(sigset_t) >= sizeof(uint64_t), "a mask of the kernel's fits");

#define KERNEL_DEFAULT 0u
#define KERNEL_IGNORE 1u

struct agent_state agent_state;
struct injected_own injected_own;

uint64_t agent_now(void)
{
	int (*clock)(clockid_t, struct timespec *) =
		(int (*)(clockid_t, struct timespec *))__atomic_load_n(&injected_own.clock,
								       __ATOMIC_RELAXED);
	struct timespec now = {0};

	if (!clock || clock(CLOCK_MONOTONIC, &now))
		raw_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the program's own SIGTRAP -------------------------------------------------------------- */

bool signal_is_forced(const siginfo_t *info)
{
	return info->si_code > 0 && info->si_code != PERF_SIGINFO_CODE;
}

void signal_requeue(int signal, siginfo_t *info)
{
	raw_syscall6(SYS_rt_tgsigqueueinfo, raw_getpid(), raw_gettid(), signal, (long)info, 0, 0);
}

/* Dies as the kernel would have let it: the default action is set and the signal sent once more. */
static bool kill_by(int signal, siginfo_t *info, const ucontext_t *context)
{
	struct injected_action action = {0};

	if (cause_is_missing(info, context))
		return false;
	raw_syscall6(SYS_rt_sigaction, signal, (long)&action, 0, sizeof(uint64_t), 0, 0);
	signal_requeue(signal, info);
	return true;
}

bool signal_chain(int signal, siginfo_t *info, void *context)
{
	const struct injected_action *previous = &injected_own.previous;
	uint64_t mask;

	if (previous->handler == KERNEL_IGNORE && !signal_is_forced(info))
		return true;
	if (previous->handler == KERNEL_DEFAULT || previous->handler == KERNEL_IGNORE)
		return kill_by(signal, info, context);
	if (!(previous->flags & SA_RESTART) && !signal_is_forced(info))
		signal_arch.end_call(context);
	memcpy(&mask, &((ucontext_t *)context)->uc_sigmask, sizeof(mask));
	mask |= previous->mask;
	if (!(previous->flags & SA_NODEFER))
		mask |= 1ull << (signal - 1);
	raw_sigprocmask(SIG_SETMASK, &mask, NULL);
	((void (*)(int, siginfo_t *, void *))previous->handler)(signal, info, context);
	return true;
}

/* Without the preload library the kernel's masks are the program's own: a signal that is delivered
 * was not blocked. */
bool mask_is_blocked(void)
{
	return false;
}

bool signal_chain_blocked(int signal, siginfo_t *info, void *context)
{
	return kill_by(signal, info, context);
}

bool mask_keep(siginfo_t *info, ucontext_t *context)
{
	(void)info;
	(void)context;
	return false;
}

/* Never called: has_filter() of handler.c is false in the injected handler. */
bool agent_choose(struct area_process *process, uint32_t slot, uint64_t address,
		  const ucontext_t *context, uint64_t now, struct agent_choice *choice)
{
	(void)process;
	(void)slot;
	(void)address;
	(void)context;
	(void)now;
	(void)choice;
	return true;
}

/* ---- what the compiler calls ---------------------------------------------------------------- */

void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
	agent_arch.copy(to, from, length);
	return to;
}

void *memset(void *to, int byte, size_t length)
{
	agent_arch.fill(to, byte, length);
	return to;
}
