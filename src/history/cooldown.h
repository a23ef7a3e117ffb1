/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cooldown: addresses that many threads access all the time. A watch needs only a few hits there,
 * but lasts until each thread has been interrupted; among hundreds of busy threads that takes long
 * enough for ten thousand hits more, which use up the budget of twenty seconds. Such an address is
 * not watched again before the budget has paid for what its last watch cost.
 *
 * Pure arithmetic; one table for each process.
 */
#ifndef HISTORY_COOLDOWN_H
#define HISTORY_COOLDOWN_H

#include "history/weights.h"

#include <stdbool.h>
#include <stdint.h>

struct cooldowns {
	struct cooldown {
		uint64_t address;
		uint64_t until;	 /* ns: when what it cost is paid for */
		bool by_writers; /* the hits were writes: the watch saw no reads */
	} address[COOLDOWN_MAX];
};

/* A watch has ended that cost `pays` ns of budget more than was wanted of it. Of two addresses that
 * share an entry the one that cools down longer is remembered. */
void cooldown_begin(struct cooldowns *cooldowns, uint64_t address, bool by_writers, uint64_t now,
		    uint64_t pays);
/* Does the address still cool down? Where the hits were mostly reads, a watch that sees writes
 * alone costs less and may be tried. */
bool cooldown_is_on(const struct cooldowns *cooldowns, uint64_t address, bool sees_reads,
		    uint64_t now);

#endif
