/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: code known to be in use, by pc, where instructions to watch are chosen from. Not all of it
 * is worth a watch: the stack of a thread that waits for others shows what it will run at the very
 * end. Sites where nobody came by what was watched are drawn the less often, the more often that
 * was in vain.
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
		unsigned vain; /* watches there that nobody came by, since somebody did */
	} site[SITES_MAX];
	unsigned used;
};

/* Code there is in use. Where all places are taken it takes a random one. */
void sites_note(struct sites *sites, struct random *random, uint64_t pc);
/* One of them, seldom of those where nobody comes; 0: there is none. */
uint64_t sites_draw(const struct sites *sites, struct random *random);
/* One of them, hardly ever of those where others do better. */
uint64_t sites_draw_sharply(const struct sites *sites, struct random *random);
/* Somebody has come by code there while it was watched, or nobody. */
void sites_tell(struct sites *sites, uint64_t pc, bool came);

#endif
