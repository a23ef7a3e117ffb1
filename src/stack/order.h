/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread comes to next, by the order of the code: the sites and the functions with frames
 * to guard that lie ahead of it in the function it is in and in those that it calls, then ahead of
 * where its callers go on. Branches are not followed, so it may pass by what is said here.
 */
#ifndef STACK_ORDER_H
#define STACK_ORDER_H

#include "stack/functions.h"

/* One of the two. */
struct order_item {
	struct site *site;
	struct victim *victim;
};

/* `pcs`: where the thread stands, and its return addresses, innermost first. Of what lies ahead
 * that which was met least often, at most `max`; the first to come first. How many. */
unsigned order_next(struct functions *functions, struct space *space, const uint64_t *pcs,
		    unsigned count, struct order_item *to, unsigned max);

#endif
