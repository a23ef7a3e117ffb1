/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler where no library is: put into a process that runs already, or that no preload can
 * enter (src/inject). It is the same handler.c, with what that calls in alone.c; here is where the
 * kernel comes in, and where it goes back.
 */
#include "agent/alone.h"
#include "agent/state.h"

#include "base/syscall.h"

#include <stdatomic.h>
#include <sys/prctl.h>

/* The kernel returns to what the action names as its restorer. Debuggers and unwinders know a
 * signal's frame by these very instructions. */
__asm__(".section .text.injected_restorer, \"ax\", @progbits\n"
	".globl injected_restorer\n"
	".hidden injected_restorer\n"
	".type injected_restorer, @function\n"
	"injected_restorer:\n"
	"	mov $15, %rax\n"
	"	syscall\n"
	".previous\n");

/* A thread that may not read the processor's clock (PR_SET_TSC) would be killed by the vDSO's, here
 * where all signals are blocked. Nobody tells when it was forbidden: the kernel is asked at each
 * hit, until it was once. */
static void look_at_clock(void)
{
	const struct area_process *process = agent_state.process;
	int mode = PR_TSC_ENABLE;

	if (!__atomic_load_n(&injected_own.clock, __ATOMIC_RELAXED) || !process ||
	    atomic_load_explicit(&process->quiet, memory_order_relaxed))
		return;
	raw_syscall6(SYS_prctl, PR_GET_TSC, (long)&mode, 0, 0, 0, 0);
	if (mode == PR_TSC_SIGSEGV)
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
