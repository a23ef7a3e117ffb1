/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room holds the next watch: an instruction is drawn (instruction.h, code.h), or an address is
 * taken that a tool asked for (requests.h); it is armed, and its watch is ended (arming.h); its
 * result is told to the site that it was chosen for. What follows from a held thread is the
 * business of the room answer, and when a slot is to be armed that of strategy. The controller's
 * thread runs all of it.
 *
 * This file: what the room keeps of a process, for itself.
 */
#ifndef CHOICE_CHOICES_H
#define CHOICE_CHOICES_H

#include "explore/explorer.h"

/* What is kept of a slot's watch of an instruction. */
struct code_watch {
	uint64_t site; /* the site that the instruction was chosen for; 0: none … */
	bool start;    /* … one of code_starts() */
	bool probes;   /* threads are held there to see whether their memory changes */
	bool lasts;    /* its window is longer than usual */
};

struct choices {
	struct code_watch watch[AREA_WATCHES]; /* by slot */
};

static inline struct code_watch *code_watch_of(const struct target *target, const struct slot *slot)
{
	return &target->explored->choices->watch[slot->index];
}

#endif
