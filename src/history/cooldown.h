/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cooldown: addresses that many threads come to all the time. A watch has all it wanted after some
 * hits, but lasts until each thread has been interrupted; among hundreds of busy ones that takes
 * long enough for ten thousand more, a second's budget of twenty. Such an address is not watched
 * again before the time in which the budget pays for what it cost.
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

/* A watch is over that cost `pays` ns of budget more than was wanted of it. Of two addresses that
 * fall together the one that cools down longer is remembered. */
void cooldown_begin(struct cooldowns *cooldowns, uint64_t address, bool by_writers, uint64_t now,
		    uint64_t pays);
/* May the address not be watched yet? Where the hits were mostly reads, a watch that sees writes
 * alone costs less and may be tried. */
bool cooldown_is_on(const struct cooldowns *cooldowns, uint64_t address, bool sees_reads,
		    uint64_t now);

#endif
