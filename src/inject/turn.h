/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One at a time enters a process or leaves it: what one has put there the other would take for its
 * own, or for what a controller left that has died. The turn is a name that the kernel knows
 * (unix(7)), given back when the last process that has the descriptor ends: that is the process
 * apart (apart.h) where the controller was killed.
 *
 * Accepted: in another network namespace the name is another one.
 */
#ifndef INJECT_TURN_H
#define INJECT_TURN_H

#include <sys/types.h>

/* Waits for the turn, twenty seconds at most, since anybody may take the name. The descriptor is
 * given to turn_end(). */
int turn_begin(pid_t pid);
void turn_end(int turn);

#endif
