/* SPDX-License-Identifier: Apache-2.0 */
/* All that a watch knows, for the files of this folder: what is wanted, in which processes it is
 * watched, where it was hit. The controller's thread owns it. */
#ifndef WATCH_STATE_H
#define WATCH_STATE_H

#include "control/control.h"
#include "record/filter.h"
#include "watch/place.h"
#include "watch/wanted.h"
#include "watch/watch.h"
#include "watch/watched.h"

struct watch {
	struct watch_options options;
	struct control *control;
	struct program *program; /* the controller's */
	struct wanted wanted[WATCH_EXPRESSIONS];
	struct watched *processes;
	bool refused, began;
	/* the process became another program while names were looked up in it */
	bool changed;
	struct piece part;	  /* the part of a region that the last hit touched */
	pid_t debugger, debugged; /* gdb while it runs, and the process it was started for */
	uint64_t started;	  /* CLOCK_MONOTONIC ns */
	uint64_t dropped, unsent;
	uint64_t refused_hits[FILTER_REFUSALS];
	struct place *place;
	size_t places, place_capacity;
	uint64_t unplaced; /* hits at places beyond PLACES_MOST, or for which there was no memory */
};

#endif
