/* SPDX-License-Identifier: Apache-2.0 */
/* What stopping and handshakes have in common: owning the safepoint and waiting for its threads. */
#ifndef SAFEPOINT_REQUEST_H
#define SAFEPOINT_REQUEST_H

#include "safepoint/safepoint.h"

/* Become the owner, counting as stopped until safepoint_end(). 0, -ETIMEDOUT or -EDEADLK. */
int safepoint_begin(struct tl_safepoint *safepoint, uint64_t deadline,
		    const struct safepoint_saved *saved);
void safepoint_end(struct tl_safepoint *safepoint);

/* Until is_done() holds for every thread but the caller; forgets threads that ended. 0 or
 * -ETIMEDOUT, with the thread's name in `laggard`. */
int safepoint_await(struct tl_safepoint *safepoint, bool (*is_done)(struct safepoint_thread *),
		    uint64_t deadline);

#endif
