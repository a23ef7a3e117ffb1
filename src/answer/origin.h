/* SPDX-License-Identifier: Apache-2.0 */
/* From a held thread to the watch of what it is about to access. */
#ifndef ANSWER_ORIGIN_H
#define ANSWER_ORIGIN_H

#include "explore/explorer.h"

/* Called when another watch of the slot begins. */
void origin_begin(struct target *target, const struct slot *slot);
/* hit() of a strategy. */
struct slot *origin_take_hit(struct target *target, struct slot *slot, struct hit *hit);

#endif
