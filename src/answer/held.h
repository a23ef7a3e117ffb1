/* SPDX-License-Identifier: Apache-2.0 */
/* What to watch now that a thread stands before a chosen instruction. Nothing is armed here. */
#ifndef ANSWER_HELD_H
#define ANSWER_HELD_H

#include "explore/explorer.h"

/* The memory that it is about to access, or that the call is handed which it is about to make.
 * False: there is none to watch. */
bool held_watch(struct target *target, const struct hit *hit, struct tl_watch *watch);
/* May others access it? Not what is near the thread's own stack. */
bool held_may_share(struct target *target, const struct hit *hit, uint64_t address);

#endif
