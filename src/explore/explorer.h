/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rooms share that choose what to watch next. From the lowest up: usage (which code
 * threads use, and what they are about to access), aim (known findings), hold (how long threads are
 * held), choice (the next watch), team (threads that begin together), answer (what a held thread
 * leads to) and strategy (when). Each of these rooms keeps a part of its own of each process and of
 * the run; the two structs here lead to these parts, and the functions here are asked by several
 * rooms.
 *
 * There is one struct explorer in a run, and one struct explored for each process. The controller's
 * thread alone touches either. What is remembered of the program stands in history/memory.h, the
 * numbers in history/weights.h.
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
	/* CLOCK_MONOTONIC ns until which a thread is held at the slot to see whether its memory
	 * changes (answer/probe.h). 0: none is. */
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
	struct team *team;		   /* NULL: no team is expected */
	struct births *births;		   /* NULL: threads that are created are not told of */
	struct team_watches *team_watches; /* NULL: neither a team nor births */
	struct aimed *aimed;		   /* NULL: nothing is aimed at */
};

struct explorer_events {
	/* What the tool thinks of an instruction: 0 to TL_INTEREST_MAX. */
	unsigned (*interest)(struct target *target, uint64_t pc);
	/* A watch has ended. */
	void (*unwatched)(struct target *target, const struct slot *slot);
};

struct manner;

struct explorer {
	struct program *program;
	const struct explorer_events *events;
	/* Two manners: the first watches all threads together, the second is for processes whose
	 * armed slots cost too much (explore/manner.h). */
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

/* Do samples come before look-ahead? In the first half second everything that samples show is new,
 * and look-ahead would take time from them that a short run does not have. Not so in a program that
 * mostly waits, which gets few samples. */
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
