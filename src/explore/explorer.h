/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rooms share that choose what to watch next. From the ground up: usage (which code
 * threads use, and what they are about to access), aim (known findings), hold (how long who comes
 * by is held), choice (the next watch), team (threads that begin together), answer (what a held
 * thread leads to) and strategy (when). Each keeps its own part of a process and of the run; here
 * are the two structs by which it finds that, and what several of them ask.
 *
 * struct explorer is one of a run, struct explored one of a process. The controller's thread alone
 * touches either. What is remembered stands in history/memory.h, the numbers in history/weights.h.
 */
#ifndef EXPLORE_EXPLORER_H
#define EXPLORE_EXPLORER_H

#include "cost/budget.h"
#include "explore/heuristic.h"
#include "history/memory.h"
#include "hit/collect.h"

/* What a slot's watch is for. Set anew whenever the slot is armed. */
struct slot_choice {
	enum heuristic heuristic; /* that led to the watch */
	/* CLOCK_MONOTONIC, ns: so long a thread is held there to see whether its memory changes
	 * (answer/probe.h). 0: none is. */
	uint64_t probed_until;
};

struct explored {
	struct memory memory;
	struct slot_choice choice[AREA_WATCHES]; /* by slot */
	/* Theirs who keep it. */
	struct usage *usage;
	struct choices *choices;
	struct answers *answers;
	struct turns *turns;
	struct team *team;		   /* NULL: none is expected */
	struct births *births;		   /* NULL: threads that are created are not told of */
	struct team_watches *team_watches; /* NULL: neither */
	struct aimed *aimed;		   /* NULL: nothing is aimed at */
};

struct explorer_events {
	/* What the tool thinks of an instruction: 0 to TL_INTEREST_MAX. */
	unsigned (*interest)(struct target *target, uint64_t pc);
	/* A watch is over. */
	void (*unwatched)(struct target *target, const struct slot *slot);
};

struct manner;

struct explorer {
	struct program *program;
	const struct explorer_events *events;
	/* Two: of a process whose armed slots are dear the second. */
	const struct manner *const *manner;
	const struct budget *budget;
	struct hits *hits;
	/* Theirs who keep it. */
	struct requests *requests;
	struct foreseer *foreseer;
	struct team_loan *team_loan;
};

static inline struct explorer *explorer_of(const struct target *target)
{
	return target->program->explorer;
}

static inline bool is_off(const struct target *target, enum heuristic heuristic)
{
	return heuristic_is_off(target->program->options.without, heuristic);
}

/* In the first half second all that samples show is new, and look-ahead would take from them the
 * time that a short run has. Not in a program that mostly waits, which gets few samples. */
static inline bool samples_come_first(const struct target *target)
{
	return !explorer_of(target)->budget->sleepy &&
	       clock_now() - target->program->started < SAMPLES_FIRST;
}

static inline struct slot_choice *choice_of(const struct target *target, const struct slot *slot)
{
	return &target->explored->choice[slot->index];
}

#endif
