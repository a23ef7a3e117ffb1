/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that were walked before. The same call by the same callers at the same height is made
 * again and again, and to see that the words are the same that led to the callers takes a
 * twentieth of the time of a walk.
 */
#ifndef ALLOCATION_KNOWN_STACKS_H
#define ALLOCATION_KNOWN_STACKS_H

#include "allocation/allocation.h"

/*
 * The callers into `event`, as unwind_callers() finds them, without those of this library itself.
 * Async-signal-safe. Accepted loss: where a library was unloaded and another has come in its
 * place with frames of other sizes at the very same return addresses, the callers of before are
 * told.
 */
void known_stacks_walk(struct allocation_event *event, const struct allocation_caller *caller);

#endif
