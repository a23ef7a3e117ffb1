/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which blocks are guarded. A block is chosen by its context, which is where it is allocated:
 * nearly always where the context is new or allocates seldom, hardly ever where it allocates all
 * the time. So an error in a rare context is found although a hot one allocates a million times as
 * often.
 *
 * A context is the return address of the allocation function. Where that lies in a function that
 * allocates for others, of which two different callers were seen, the return address of that
 * function is part of the context, too (site.h).
 *
 * Where every block is guarded (`trapline heap --all`), what is chosen is which have pages of their
 * own and are told: the first of each context and then, as the budget allows, fewer and fewer.
 *
 * Each thread counts in a lane of its own (threads beyond CHOOSE_LANES share lanes), so that no
 * other CPU writes to the cache lines it counts in. A cell says how many allocations at its place
 * are to pass before one is looked at. Two places with the same cell drive each other out and are
 * looked at too often, which costs some ns each time.
 */
#ifndef GUARD_CHOOSE_H
#define GUARD_CHOOSE_H

#include "allocation/allocation.h"

#include <stdbool.h>
#include <stdint.h>

#define CHOOSE_LANES 32u
#define CHOOSE_CELLS 1024u

struct choose_cell {
	uint32_t place; /* the lower half of a return address, or of a context */
	int32_t left;
};

struct choose_lane {
	struct choose_cell cell[CHOOSE_CELLS];
};

/* NULL: this thread has not looked yet. */
extern __thread struct choose_lane *choose_lane __attribute__((tls_model("initial-exec")));

static inline struct choose_cell *choose_cell(struct choose_lane *lane, uint64_t place)
{
	return &lane->cell[place * 0x9e3779b97f4a7c15ull >> 54];
}

/* Is the block that is allocated for this caller to be shown to choose()? */
static inline bool choose_is_due(const void *caller)
{
	struct choose_cell *cell;

	if (__builtin_expect(!choose_lane, 0))
		return true;
	cell = choose_cell(choose_lane, (uintptr_t)caller);
	return __builtin_expect(cell->place != (uint32_t)(uintptr_t)caller || --cell->left < 0, 0);
}

/* When work began that is to be paid for. */
struct choose_bill {
	uint64_t begun;	  /* agent_now(); 0: it is not measured */
	uint64_t earning; /* the same by the clock by which time is earned; 0: the work is not paid
			     for one by one */
};

struct choose_decision {
	uint64_t context;
	struct choose_bill bill; /* for choose_pay() */
	bool told;		 /* there is time for the controller to be told */
	bool pages;		 /* and for pages of its own */
	bool whole;  /* it is told and has pages in any case, and nothing is owed for it */
	bool seldom; /* of a context that allocates seldom */
	bool unkept; /* it is not kept when it is freed: there is no time for that */
	bool behind; /* an empty page, rather than before one */
};

/* True: guard it, and call choose_pay() afterwards. Each call comes after one of choose_is_due(),
 * whatever that has said. Async-signal-safe, as the rest. */
bool choose(const struct allocation_caller *caller, struct choose_decision *decision);
/* It was guarded, or could not be. `event`: where it was allocated; NULL: it could not be. */
void choose_pay(const struct allocation_caller *caller, const struct choose_decision *decision,
		const struct allocation_event *event);

/* Where every block is guarded: one that is made is not, and was not shown to choose(). */
void choose_note_left_out(void);

/* Is there time for the controller to be told of a free? */
bool choose_affords(void);
/* To be called before and after a guarded block is freed. `more`: the controller may be told of it;
 * `told`: it was; `pages`: the block had pages of its own. */
void choose_begin_bill(struct choose_bill *bill, bool more);
void choose_pay_release(const struct choose_bill *bill, bool told, bool pages);

/* In a process that is watched from now on, also a forked one. `fit`: blocks may be guarded. */
void choose_begin(bool fit);
/* The process ends: takes back what was counted as left out before it came, and did not come. */
void choose_end(void);

#endif
