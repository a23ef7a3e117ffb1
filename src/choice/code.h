/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching code instead of data: an execution breakpoint on an instruction that accesses memory,
 * chosen at random among code in use. A thread that comes by is held before its access, and another
 * slot watches the address meanwhile and afterwards.
 */
#ifndef CHOICE_CODE_H
#define CHOICE_CODE_H

#include "choice/choices.h"

#define COLD_HOLD MILLISECOND /* code found this way may run seldom: others come seldom too */

/* An instruction to watch, and the site that it was chosen for; 0: none. */
struct code_choice {
	struct tl_watch watch;
	uint64_t site;
	bool start;		   /* the site is one of code_starts() */
	struct thread_rate thread; /* to watch it in, where it is one alone */
	bool probe;
	enum heuristic heuristic;
	unsigned doublings; /* of the window: who comes is waited for */
	bool look;	    /* nobody is held there: a thread's registers are wanted */
};

/* Which instructions are wanted, to be watched in all threads. */
struct code_wish {
	contended_filter_fn *filter; /* of contended sites; NULL: any */
	bool met_first; /* a site where threads have met is one of those, whatever is foreseen */
	bool wakes;	/* also where a sleeping thread goes on */
};

bool code_choose(struct target *target, const struct code_wish *wish, struct code_choice *choice);
/* A filter: what only a watch of all threads meets. */
bool code_is_for_all(void *context, const struct contended_site *site);
/* Where one thread at a time is watched: was a conflict foreseen that only a watch of all threads
 * can meet? */
bool code_promises_all(struct target *target);
/* In one thread alone. */
bool code_choose_single(struct target *target, uint64_t now, struct code_choice *choice);
/* The slot watches it now. */
void code_armed(struct target *target, const struct slot *slot, const struct code_choice *choice);
/* Is who comes by held to see whether its memory changes? */
bool code_is_probe(const struct target *target, const struct slot *slot);
/* Was the site that the slot's instruction was chosen for worth the watch? */
void code_tell(struct target *target, const struct slot *slot, bool worth);
/* The watch of an instruction is over. */
void code_unwatched(struct target *target, const struct slot *slot);

#endif
