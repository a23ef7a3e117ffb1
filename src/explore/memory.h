/* SPDX-License-Identifier: Apache-2.0 */
/* All that is remembered of what a process does, to choose what to watch next: by pc, by address.
 */
#ifndef EXPLORE_MEMORY_H
#define EXPLORE_MEMORY_H

#include "explore/contended.h"
#include "explore/cooldown.h"
#include "explore/foresight.h"
#include "explore/period.h"
#include "explore/sharing.h"
#include "explore/sites.h"

struct memory {
	/* by pc */
	struct sites sites;
	struct sites starts; /* of regions without synchronisation */
	struct contended contended;
	/* by address */
	struct sharing sharing;
	struct foresight foresight;
	struct cooldowns cooldowns;
	struct periods periods[PERIOD_ADDRESSES];
};

#endif
