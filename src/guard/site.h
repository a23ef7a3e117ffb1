/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return addresses of allocation functions, and who is above: a function that allocates for others
 * is known by two different callers of it. Its callers are told apart by a word on the stack from
 * then on, which costs no walk.
 */
#ifndef GUARD_SITE_H
#define GUARD_SITE_H

#include "allocation/allocation.h"

#include <stdbool.h>
#include <stdint.h>

struct site;

uint64_t site_mix(uint64_t a, uint64_t b);
/* NULL: nothing is known of it, and none of the others minds that. Async-signal-safe, as they are.
 */
struct site *site_find(uint64_t caller);
bool site_is_split(const struct site *site);
/* Of the context: of the return address and, of a split site, of the one above. */
uint64_t site_key(const struct allocation_caller *caller, const struct site *site);
/* What the stack of a guarded block shows of who is above. */
void site_learn(const struct allocation_caller *caller, const struct allocation_event *event);

/* Where every block is guarded: is who is above known, or to be found out? Then nothing is to pass
 * unseen. */
bool site_is_seen(const struct site *site);
/* Of a site that is seen and not split: site_key(), or of the function above, where that may be
 * another one than the site is known by. */
uint64_t site_key_of_other(const struct allocation_caller *caller, struct site *site);

#endif
