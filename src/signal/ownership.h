/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership of a signal that the program may use too. The kernel's disposition is ours; the
 * program's is kept here, shown to it by the interposed sigaction(), and honoured for every signal
 * that is not ours, as the kernel would have (signal(7), sigaction(2)).
 */
#ifndef SIGNAL_OWNERSHIP_H
#define SIGNAL_OWNERSHIP_H

#include <signal.h>
#include <stdbool.h>

/* Runs with every signal but SIGILL blocked. Passes on what is not ours with signal_chain(). */
typedef void signal_handler_fn(int signal, siginfo_t *info, void *context);

/* Take a signal over; does nothing if it is ours already with this handler. 0 or -errno.
 * Async-signal-safe. */
int signal_own(int signal, signal_handler_fn *handler);

bool signal_is_owned(int signal);

/* Give it back: the kernel's disposition is the program's from then on. Where no thread can be in
 * want of our handler any more. Async-signal-safe. */
void signal_disown(int signal);

/* What sigaction() means for the program, for an owned signal. */
int signal_program_action(int signal, const struct sigaction *action, struct sigaction *old);

/* What libc's sigaction() adds to an action that the program gives it, of an owned signal. */
void signal_set_by_libc(int signal, struct sigaction *action);

/*
 * Around a call that executes a program, which inherits that the signal is ignored: where the
 * program ignores it, so does the kernel meanwhile. Accepted: hits in that time are not seen, of
 * programs that ignore SIGTRAP.
 */
void signal_expose(int signal, bool expose);

/* In a forked child: the calls that were under way are its parent's. */
void signal_conceal(int signal);

/* Do what would have happened without us: the program's handler with its mask and flags, nothing,
 * or death by the signal. False: a debug trap without a cause (src/signal/cause.h), which would
 * have killed, was dropped. */
bool signal_chain(int signal, siginfo_t *info, void *context);

/* The kernel forces a fault's signal past SIG_IGN and a mask, but only sends a perf event's or a
 * user's. */
bool signal_is_forced(const siginfo_t *info);

/* The same for a forced one where the program has it blocked: it dies, whatever its handler. */
bool signal_chain_blocked(int signal, siginfo_t *info, void *context);

/* For a signal that the kernel sent to this thread and that must be delivered again later. */
void signal_requeue(int signal, siginfo_t *info);

#endif
