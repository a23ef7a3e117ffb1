/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that a hit meets together with a signal of the program's own. What wakes the call is
 * the other signal; the kernel delivers the hit's first (Linux, kernel/signal.c, get_signal()), and
 * decides by its action whether the call begins again (arch_do_signal_or_restart()). That one says
 * SA_RESTART, and when the other is delivered, on the way out of our handler, no call is left that
 * it could end.
 */
#ifndef SIGNAL_INTERRUPTED_H
#define SIGNAL_INTERRUPTED_H

#include <ucontext.h>

/* A hit has been handled: a call that is to begin again ends with EINTR instead, where the signal
 * that is delivered next would have ended it. Of signals whose actions are ours each handler sees
 * to that by itself. Async-signal-safe; two system calls, in a thread that is about to begin one
 * again, else none. All signals are blocked. */
void interrupted_settle(ucontext_t *context);

#endif
