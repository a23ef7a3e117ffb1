/* SPDX-License-Identifier: Apache-2.0 */
/* What to watch now that a thread is held before a chosen instruction. Nothing is armed here. */
#ifndef ANSWER_HELD_H
#define ANSWER_HELD_H

#include "explore/explorer.h"

/* Fills in a watch of the memory that the held thread is about to access, or that is handed to the
 * call which it is about to make. False: there is none to watch. */
bool held_watch(struct target *target, const struct hit *hit, struct tl_watch *watch);
/* May other threads access this address? Not if it is near the held thread's own stack. */
bool held_may_share(struct target *target, const struct hit *hit, uint64_t address);

#endif
