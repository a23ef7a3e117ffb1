/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: a thread has come to what is watched, and is held. Before a chosen instruction this
 * leads to a watch of what it is about to access (origin.h, held.h), or to a look at whether that
 * memory changes (probe.h); at data a slot for writes is widened to reads. Promised: who is held
 * goes on when the hold is over, whatever is done here. The controller's thread runs all of it.
 *
 * This file: what the room keeps of a process, for itself.
 */
#ifndef ANSWER_ANSWERS_H
#define ANSWER_ANSWERS_H

#include "explore/explorer.h"

#define PROBE_WORDS 64 /* looked at of one thread's next accesses */

struct probe_word {
	uint64_t pc; /* of the instruction that is to access it */
	uint64_t address, value;
	unsigned length; /* bytes */
};

/* Memory that a held thread is about to access, while slot_choice's probed_until is set. */
struct probe {
	const struct hit *hit;
	struct probe_word word[PROBE_WORDS];
	unsigned words;
};

/* Of a watch of what a call is handed, where a thread is held in front of the call. */
struct caller {
	struct slot *slot; /* that holds it; NULL: none */
	pid_t tid;
};

/* By slot. */
struct answers {
	struct probe probe[AREA_WATCHES];
	struct caller caller[AREA_WATCHES];
};

#endif
