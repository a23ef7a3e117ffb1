/* SPDX-License-Identifier: Apache-2.0 */
#include "signal/alternate.h"

#include "base/syscall.h"
#include "signal/borrower.h"

#include <stdatomic.h>
#include <stdbool.h>

#define TRAP_BIT (1ull << (SIGTRAP - 1))

int libc_sigaction(int signal, const struct sigaction *action,
		   struct sigaction *old) __asm__("__sigaction");

static sigaction_fn *next_sigaction = libc_sigaction;

static _Atomic bool is_small;
static _Atomic uint64_t added; /* signals in whose masks SIGTRAP is ours, not the program's */

static uint64_t bit_of(int signal)
{
	return signal > 0 && signal <= 64 ? 1ull << (signal - 1) : 0;
}

/* The kernel's structure (asm/signal.h), not libc's. */
struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static long kernel_sigaction(int signal, const struct kernel_action *action,
			     struct kernel_action *old)
{
	return raw_syscall6(SYS_rt_sigaction, signal, (long)action, (long)old, sizeof(uint64_t), 0,
			    0);
}

void alternate_stack_is_small(void)
{
	if (atomic_exchange(&is_small, true))
		return;
	for (int signal = 1; signal <= 64; signal++) {
		struct kernel_action action;

		if (signal == SIGTRAP || kernel_sigaction(signal, NULL, &action) ||
		    !(action.flags & SA_ONSTACK) || action.mask & TRAP_BIT)
			continue;
		action.mask |= TRAP_BIT;
		if (!kernel_sigaction(signal, &action, NULL))
			atomic_fetch_or(&added, bit_of(signal));
	}
}

void alternate_use(sigaction_fn *next)
{
	next_sigaction = next;
}

int alternate_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	uint64_t bit = bit_of(signal);
	bool adding = action && atomic_load(&is_small) && action->sa_flags & SA_ONSTACK &&
		      !sigismember(&action->sa_mask, SIGTRAP);
	bool was_added = atomic_load(&added) & bit;
	struct sigaction wanted;
	int result;

	if (adding) {
		wanted = *action;
		sigaddset(&wanted.sa_mask, SIGTRAP);
	}
	result = next_sigaction(signal, adding ? &wanted : action, old);
	if (result)
		return result;
	if (old && was_added)
		sigdelset(&old->sa_mask, SIGTRAP);
	if (!adding && !was_added)
		return 0;
	/* A child that borrows this memory has changed its own action, not the owner's. */
	if (borrower_is())
		return 0;
	if (adding)
		atomic_fetch_or(&added, bit);
	else if (action)
		atomic_fetch_and(&added, ~bit);
	return 0;
}
