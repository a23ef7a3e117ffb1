/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room holds what a process was seen to do, kept in order to choose what to watch next, and the
 * weights by which that is chosen. Fixed tables and arithmetic: nothing here knows of slots,
 * threads or the area, and the time is an argument. Used by the controller's thread alone.
 *
 * This file: all of it for one process, by pc and by address.
 */
#ifndef HISTORY_MEMORY_H
#define HISTORY_MEMORY_H

#include "history/contended.h"
#include "history/cooldown.h"
#include "history/foresight.h"
#include "history/period.h"
#include "history/sharing.h"
#include "history/sites.h"

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
