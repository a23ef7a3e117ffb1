/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug traps without a cause. Where an event is moved or closed while its trap is on its way, the
 * kernel finds no breakpoint for it any more and sends SIGTRAP as it would for a debugger's (Linux,
 * arch/x86/kernel/hw_breakpoint.c, hw_breakpoint_handler()); virtual machines also deliver traps
 * that say nothing of what they are for. Without us there would be none.
 */
#ifndef SIGNAL_CAUSE_H
#define SIGNAL_CAUSE_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* Is this SIGTRAP a debug trap that nothing in the program explains: no int3 or int1, no single
 * step? False in doubt. A breakpoint that another process put into the debug registers, and left
 * there, is taken for one without a cause. Async-signal-safe. */
bool cause_is_missing(const siginfo_t *info, const ucontext_t *context);

#endif
