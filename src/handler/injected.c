/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler where no library is: put into a process that runs already, or that no preload can
 * enter (src/inject). It is the same handler.c, with what that calls in alone.c; here is where the
 * kernel comes in, and where it goes back.
 */
#include "agent/arch.h"
#include "agent/state.h"
#include "handler/alone.h"
#include "handler/handler.h"

#include <stdatomic.h>

AGENT_RESTORER(injected_restorer);
INJECTED_RUN(injected_run);

struct injected_table injected_table __attribute__((visibility("hidden")));

/* A thread that may not read the processor's clock (PR_SET_TSC) would be killed by the vDSO's, here
 * where all signals are blocked. Nobody tells when it was forbidden: the kernel is asked at each
 * hit, until it was once; not where its own clock is used (inject_request.calls_clock). */
static void look_at_clock(void)
{
	const struct area_process *process = agent_state.process;

	if (!__atomic_load_n(&injected_own.clock, __ATOMIC_RELAXED) || !process ||
	    atomic_load_explicit(&process->quiet, memory_order_relaxed))
		return;
	if (!agent_arch.may_read_clock())
		__atomic_store_n(&injected_own.clock, 0, __ATOMIC_RELAXED);
}

/* `entered` is more than the handlers that note a hit: the memory may go when it is 0 and no thread
 * stands in it (src/inject/leave.c). */
void injected_entry(int number, siginfo_t *info, void *context)
{
	__atomic_fetch_add(&injected_own.entered, 1, __ATOMIC_SEQ_CST);
	look_at_clock();
	agent_take_trap(number, info, context);
	__atomic_fetch_sub(&injected_own.entered, 1, __ATOMIC_SEQ_CST);
}
