/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that a tool asked to have watched, mostly because a sample showed a thread about to
 * access them. */
#ifndef CHOICE_REQUESTS_H
#define CHOICE_REQUESTS_H

#include "explore/explorer.h"

#define REQUESTS_MAX 64
/* ns; where an older sample was about to access there may be another object by now. */
#define REQUEST_AGE (300 * MILLISECOND)

struct request {
	struct tl_watch watch;
	uint64_t time;
};

/* The requests of a run. */
struct requests {
	struct request request[REQUESTS_MAX];
	unsigned count;
};

/* Adds a request. 0, -EINVAL, or -EBUSY: too many wait, or the address cools down. */
int request_add(struct explorer *explorer, const struct tl_watch *watch);
void request_fill(struct tl_watch *watch); /* sets what the tool left open */
void requests_expire(struct explorer *explorer, uint64_t now);
/* Does a request wait for this process that is not watched yet? */
bool request_waits(struct explorer *explorer, struct target *target);
/* Takes the best request for this process: highest priority, any of equals. False: there is
 * none. */
bool request_take(struct explorer *explorer, struct target *target, struct tl_watch *watch);

#endif
