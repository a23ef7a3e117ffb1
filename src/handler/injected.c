/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler as it is put into a process that runs already, or that no preload library can enter
 * (src/inject). It is the same handler.c; alone.c has the functions that handler.c calls. Here is
 * where the kernel enters the image, and where it leaves it.
 */
#include "agent/arch.h"
#include "agent/state.h"
#include "base/perf_siginfo.h"
#include "handler/alone.h"
#include "handler/handler.h"

#include <stdatomic.h>

AGENT_RESTORER(injected_restorer);
INJECTED_RUN(injected_run);

struct injected_table injected_table __attribute__((visibility("hidden")));

/* A thread that may not read the processor's clock (PR_SET_TSC) would be killed in the vDSO, since
 * all signals are blocked here. No call tells when the program forbade it, so the kernel is asked
 * at each hit until it says so once. Not needed where the kernel's clock is used anyway
 * (inject_request.calls_clock). */
static void look_at_clock(void)
{
	const struct area_process *process = agent_state.process;

	if (!__atomic_load_n(&injected_own.clock, __ATOMIC_RELAXED) || !process ||
	    atomic_load_explicit(&process->quiet, memory_order_relaxed))
		return;
	if (!agent_arch.may_read_clock())
		__atomic_store_n(&injected_own.clock, 0, __ATOMIC_RELAXED);
}

/*
 * A thread that is about to run the first instruction of a function that is patched runs the new
 * one instead: the arguments are where its caller left them. Nothing else is done, so no call is
 * made that a filter could forbid. A hit that comes late has its thread elsewhere, unless that is
 * about to call the function again: what the signal was for does not matter.
 */
static bool redirect(const struct perf_siginfo *info, ucontext_t *context)
{
	struct area_process *process = agent_state.process;
	bool on = __atomic_load_n(&injected_own.redirecting, __ATOMIC_ACQUIRE);

	if (!process || info->code != PERF_SIGINFO_CODE || !area_tag_is_ours(info->data))
		return false;
	for (unsigned i = 0; i < INJECTED_REDIRECTS; i++) {
		const struct injected_redirect *redirect = &injected_own.redirect[i];

		if (!redirect->from ||
		    !agent_arch.divert(context, redirect->from, on ? redirect->to : redirect->from))
			continue;
		atomic_fetch_add_explicit(&process->delivered, 1, memory_order_relaxed);
		return true;
	}
	return false;
}

/* `entered` counts every thread in the image, also in handlers that note no hit: the image may be
 * unmapped once it is 0 and no thread's pc lies in it (src/inject/leave.c). */
void injected_entry(int number, siginfo_t *info, void *context)
{
	__atomic_fetch_add(&injected_own.entered, 1, __ATOMIC_SEQ_CST);
	if (!redirect((const struct perf_siginfo *)info, context)) {
		look_at_clock();
		agent_take_trap(number, info, context);
	}
	__atomic_fetch_sub(&injected_own.entered, 1, __ATOMIC_SEQ_CST);
}
