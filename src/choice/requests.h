/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that a tool asked to have watched, mostly since a sample was about to access them. */
#ifndef CHOICE_REQUESTS_H
#define CHOICE_REQUESTS_H

#include "explore/explorer.h"

#define REQUESTS_MAX 64
#define REQUEST_AGE (300 * MILLISECOND) /* an address sampled longer ago may be something else */

struct request {
	struct tl_watch watch;
	uint64_t time;
};

/* Of a run. */
struct requests {
	struct request request[REQUESTS_MAX];
	unsigned count;
};

/* 0, or -EINVAL, -EBUSY: too many wait, or the address cools down. */
int request_add(struct explorer *explorer, const struct tl_watch *watch);
void request_fill(struct tl_watch *watch); /* what the tool left open */
void requests_expire(struct explorer *explorer, uint64_t now);
/* Does one wait for this process that is not watched? */
bool request_waits(struct explorer *explorer, struct target *target);
/* The best one for this process: highest priority, any of equals. False: none. */
bool request_take(struct explorer *explorer, struct target *target, struct tl_watch *watch);

#endif
