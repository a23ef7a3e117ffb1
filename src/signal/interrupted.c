/* SPDX-License-Identifier: Apache-2.0 */
#include "signal/interrupted.h"

#include "base/syscall.h"
#include "signal/arch.h"

#include <signal.h>
#include <string.h>

#define BIT(signal) (1ull << ((signal)-1))
/* Linux, kernel/signal.c: SYNCHRONOUS_MASK, which go before the others. */
#define FIRST (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGFPE) | BIT(SIGSYS))

/* As rt_sigaction(2) has it, of one word of signals. */
struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static bool has_handler(int signal, unsigned long *flags)
{
	struct kernel_action action = {.handler = SIG_DFL};

	raw_syscall6(SYS_rt_sigaction, signal, 0, (long)&action, sizeof(action.mask), 0, 0);
	*flags = action.flags;
	return action.handler != SIG_DFL && action.handler != SIG_IGN;
}

/* Those that are delivered when the handler returns. */
static uint64_t waiting(const ucontext_t *context)
{
	uint64_t pending = 0, blocked;

	memcpy(&blocked, &context->uc_sigmask, sizeof(blocked));
	raw_syscall3(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0);
	return pending & ~blocked;
}

/*
 * Without a handler a signal ends nothing: it is ignored, or the process ends or stops. Accepted:
 * of those of the process and of the thread the lowest is taken for the first, though the thread's
 * go before; and another thread may take a signal of the process's yet.
 */
void interrupted_settle(ucontext_t *context)
{
	uint64_t pending;
	unsigned long flags;

	if (!signal_arch.begins_again(context))
		return;
	pending = waiting(context);
	while (pending) {
		uint64_t first = pending & FIRST ? pending & FIRST : pending;
		int signal = __builtin_ctzll(first) + 1;

		if (has_handler(signal, &flags)) {
			if (!(flags & SA_RESTART))
				signal_arch.end_call(context);
			return;
		}
		pending &= ~BIT(signal);
	}
}
