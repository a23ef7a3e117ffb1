/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: return addresses of allocation functions. A site lies in a function that allocates for
 * others if two different callers of that function were seen; it is split then, and its callers are
 * told apart by the word on the stack where their return address stands, without a walk.
 */
#ifndef GUARD_SITE_H
#define GUARD_SITE_H

#include "allocation/allocation.h"

#include <stdbool.h>
#include <stdint.h>

struct site;

uint64_t site_mix(uint64_t a, uint64_t b);
/* NULL: nothing is known of it; all others may be handed NULL. Async-signal-safe, as the others
 * are. */
struct site *site_find(uint64_t caller);
bool site_is_split(const struct site *site);
/* The context's key: made of the return address and, for a split site, of the one above. */
uint64_t site_key(const struct allocation_caller *caller, const struct site *site);
/* Learns from the stack of a guarded block who called the site's function. */
void site_learn(const struct allocation_caller *caller, const struct allocation_event *event);

/* Where every block is guarded: is the caller above known, or still to be found out? Then no
 * allocation may pass without being shown to choose(). */
bool site_is_seen(const struct site *site);
/* For a site that is seen and not split: site_key() or, where the word above is not the caller that
 * the site is known by, a key of the two. */
uint64_t site_key_of_other(const struct allocation_caller *caller, struct site *site);

#endif
