/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching instructions instead of data: an execution breakpoint on an instruction that accesses
 * memory, chosen at random among code in use. A thread that hits it is held before its access, and
 * another slot watches the address meanwhile and afterwards.
 */
#ifndef CHOICE_CODE_H
#define CHOICE_CODE_H

#include "choice/choices.h"

/* For code that may run seldom: then other threads reach the memory seldom, too. */
#define COLD_HOLD MILLISECOND

/* An instruction to watch, and the site that it was chosen for (0: none). */
struct code_choice {
	struct tl_watch watch;
	uint64_t site;
	bool start; /* the site is one of code_starts() */
	/* The thread to watch it in, where one thread alone is watched. */
	struct thread_rate thread;
	bool probe;
	enum heuristic heuristic;
	unsigned doublings; /* of the window's length */
	bool look;	    /* no thread is held there: only its registers are wanted */
};

/* Which instructions are wanted, for a watch in all threads. */
struct code_wish {
	contended_filter_fn *filter; /* of contended sites; NULL: any */
	bool met_first; /* sites where threads have met come first, before foreseen conflicts */
	bool wakes;	/* instructions at which sleeping threads will go on count, too */
};

bool code_choose(struct target *target, const struct code_wish *wish, struct code_choice *choice);
/* A contended_filter_fn that lets sites pass which only a watch of all threads can hit. */
bool code_is_for_all(void *context, const struct contended_site *site);
/* In a process of which one thread at a time is watched: was a conflict foreseen that only a watch
 * of all threads can hit? */
bool code_promises_all(struct target *target);
/* Chooses an instruction to watch in one thread alone. */
bool code_choose_single(struct target *target, uint64_t now, struct code_choice *choice);
/* Notes that the slot watches this choice now. */
void code_armed(struct target *target, const struct slot *slot, const struct code_choice *choice);
/* Are threads held at the slot to see whether their memory changes? */
bool code_is_probe(const struct target *target, const struct slot *slot);
/* Tells the site that the slot's instruction was chosen for whether it was worth the watch. */
void code_tell(struct target *target, const struct slot *slot, bool worth);
/* The slot's watch of an instruction has ended. */
void code_unwatched(struct target *target, const struct slot *slot);

#endif
