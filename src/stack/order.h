/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread comes to next, by the order of the code alone: sites and victims that lie ahead in
 * the function it is in and in those that this calls, then those ahead of where its callers go on.
 * Branches are not followed, so a thread may never come to what is said here.
 */
#ifndef STACK_ORDER_H
#define STACK_ORDER_H

#include "stack/functions.h"

/* One of the two; the other is NULL. */
struct order_item {
	struct site *site;
	struct victim *victim;
};

/* `pcs`: where the thread stands, and its return addresses, innermost first. Writes to `to`, of
 * what lies ahead, the `max` items that were met least often, in the order in which they come.
 * Returns how many. */
unsigned order_next(struct functions *functions, struct space *space, const uint64_t *pcs,
		    unsigned count, struct order_item *to, unsigned max);

#endif
