/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room holds what is done when a thread is held at a watch. Before a chosen instruction, the
 * address that the thread is about to access is watched (origin.h, held.h), or it is tried whether
 * that memory changes (probe.h); at data, a slot for writes is widened to reads. Promised: the
 * thread goes on when its hold is over, whatever is done here. The controller's thread runs all of
 * it.
 *
 * This file: what the room keeps of a process, for itself.
 */
#ifndef ANSWER_ANSWERS_H
#define ANSWER_ANSWERS_H

#include "explore/explorer.h"

#define PROBE_WORDS 64 /* words of memory that are read of one thread's next accesses */

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

/* For a watch of memory that a call is handed, while a thread is held in front of the call. */
struct caller {
	struct slot *slot; /* the slot that holds the thread; NULL: none */
	pid_t tid;
};

/* What is kept of a process, by slot. */
struct answers {
	struct probe probe[AREA_WATCHES];
	struct caller caller[AREA_WATCHES];
};

#endif
