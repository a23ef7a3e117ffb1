/* SPDX-License-Identifier: Apache-2.0 */
/* The detector's state: its files share this struct and no other. The controller's thread alone
 * uses it; the threads of pages.c have their own behind `pages`. */
#ifndef HEAP_STATE_H
#define HEAP_STATE_H

#include "base/random.h"
#include "heap/operators.h"
#include "heap/watches.h"

#include <stdbool.h>
#include <stdint.h>
#include <trapline/tool.h>

#define HEAP_TOLD 64u

struct outside;
struct pages;
struct remember;

struct heap {
	struct tl_host *host;
	const struct tl_services *services;
	bool all;			 /* every block is guarded, budget or not */
	bool watches, samples, on_pages; /* strategies that are on */
	struct remember *remember;
	struct pages *pages; /* NULL: no process has any */
	struct heap_watch watch[HEAP_WATCHES];
	struct random random;
	uint64_t last_cookie; /* that was given to a watch */
	uint64_t spared; /* ns of births up to which spare slots were given out: see watches.c */
	/* Serials of blocks of which the culprit was seen: a pattern that it has broken is not told
	 * again. */
	uint64_t told[HEAP_TOLD];
	unsigned tolds;
	uint64_t sampled_until; /* ns: samples before that are not looked up */
	struct operators_known operators;
	struct outside *outside; /* processes that no library of ours is in */
};

#endif
