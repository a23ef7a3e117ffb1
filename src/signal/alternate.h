/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alternate signal stacks too small for a hit's signal frame on top of a handler's own: handlers
 * that run there block SIGTRAP, as they would overflow. What sigaction() shows the program is what
 * the program set.
 */
#ifndef SIGNAL_ALTERNATE_H
#define SIGNAL_ALTERNATE_H

#include <signal.h>

/* The program has such a stack: from now on, and for the handlers there are. */
void alternate_stack_is_small(void);

/* Who does it from now on: libc, or another library like ours that comes before it. */
typedef int sigaction_fn(int signal, const struct sigaction *action, struct sigaction *old);
void alternate_use(sigaction_fn *next);

/* The next one's sigaction(), for signals that are not owned. */
int alternate_sigaction(int signal, const struct sigaction *action, struct sigaction *old);

#endif
