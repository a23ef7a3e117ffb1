/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that runs already, watched from outside without stopping or changing it: nothing of
 * ours is in it, so no signal and no handler either. Each hit leaves a sample in a ring of the
 * kernel's, with the thread's registers and the top of its stack, and the thread goes on at once.
 *
 * What this cannot give: the value at the time (it is told where a register still holds it), the
 * old value, threads that wait at their access, actions there, and what a thread does with its own
 * copy of a variable before it is first looked at (control/observed_copies.h).
 */
#ifndef CONTROL_OBSERVE_H
#define CONTROL_OBSERVE_H

#include "control/control.h"

/* Are children watched, too: those that it has, and those that it forks later, until they execute
 * a program? */
bool observe_children(const struct control *control);

/* Begin: control_run() then ends with the process, or by control_stop(). 0 or -errno: -ESRCH, or
 * -EACCES when this user may not trace it. */
int control_observe(struct control *control, pid_t pid);

/* Makes control_run() return, of a process that we have not started. Async-signal-safe. */
void control_stop(struct control *control);

/* Threads of the observed process that could not be covered. */
uint64_t control_uncovered(const struct control *control);

#endif
