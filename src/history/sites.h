/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: code known to be in use, by pc, from which instructions to watch are chosen. Not all of it
 * is worth a watch: the stack of a thread that waits for others shows what it will run at the very
 * end. A site whose watches were not hit is drawn the more seldom, the more of them there were.
 *
 * Pure arithmetic. A process has two such sets, one of code in use and one of starts of regions
 * without synchronisation; so has each of its background threads.
 */
#ifndef HISTORY_SITES_H
#define HISTORY_SITES_H

#include "base/random.h"
#include "history/weights.h"

#include <stdbool.h>

struct sites {
	struct site {
		uint64_t pc;
		unsigned vain; /* watches there without a hit, since the last that was hit */
	} site[SITES_MAX];
	unsigned used;
};

/* Notes that code at `pc` is in use. Where all places are taken a random one is replaced. */
void sites_note(struct sites *sites, struct random *random, uint64_t pc);
/* Draws a site, seldom one whose watches were not hit; 0: there is none. */
uint64_t sites_draw(const struct sites *sites, struct random *random);
/* Draws a site, hardly ever one that others do better than. */
uint64_t sites_draw_sharply(const struct sites *sites, struct random *random);
/* Tells whether a thread hit the code at `pc` while it was watched. */
void sites_tell(struct sites *sites, uint64_t pc, bool came);

#endif
