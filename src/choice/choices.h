/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: the next watch. An instruction is drawn (instruction.h, code.h) or an address taken
 * that a tool asked for (requests.h), it is armed, and its watch is ended (arming.h); what came of
 * it is told to the site that it was chosen for. Who is held there is answer's business, and when
 * there is a turn the strategy's. The controller's thread runs all of it.
 *
 * This file: what the room keeps of a process, for itself.
 */
#ifndef CHOICE_CHOICES_H
#define CHOICE_CHOICES_H

#include "explore/explorer.h"

/* Of a slot's watch of an instruction. */
struct code_watch {
	uint64_t site; /* that the instruction was chosen for; 0: none … */
	bool start;    /* … one of code_starts() */
	bool probes;   /* who comes by is held to see whether its memory changes */
	bool lasts;    /* its window is longer than others': who comes is waited for */
};

struct choices {
	struct code_watch watch[AREA_WATCHES]; /* by slot */
};

static inline struct code_watch *code_watch_of(const struct target *target, const struct slot *slot)
{
	return &target->explored->choices->watch[slot->index];
}

#endif
