/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contended sites: instructions whose memory other threads access, too. They are worth more watches
 * than others, as long as these find something.
 *
 * Pure arithmetic; one set for each process.
 */
#ifndef HISTORY_CONTENDED_H
#define HISTORY_CONTENDED_H

#include "base/random.h"
#include "history/weights.h"

#include <stdbool.h>
#include <sys/types.h>

struct contended_site {
	uint64_t pc;
	pid_t tid;	  /* of a thread that was there */
	bool seen;	  /* another thread was seen to access its memory */
	unsigned changes; /* times its memory changed under a thread that was held there */
	unsigned tries;	  /* times it was chosen since the first change */
	/* Pc of another thread's access that is foreseen to conflict with this one; 0: none is. */
	uint64_t conflict;
	bool came;	/* a thread was seen to hit the site */
	unsigned holds; /* of threads there */
	unsigned vain;	/* watches in a row without a hit */
};

struct contended {
	struct contended_site site[CONTENDED_MAX];
	unsigned used;
};

/* Notes that another thread accessed what this instruction accesses. Where all places are taken a
 * random one is replaced, preferably one where a conflict was only foreseen. */
struct contended_site *contended_note(struct contended *contended, struct random *random,
				      uint64_t pc, pid_t tid);
/* Notes that the instruction's memory changed while the thread was held there or before. */
void contended_change(struct contended *contended, struct random *random, uint64_t pc, pid_t tid);

/* Notes that the instruction's access is foreseen to conflict with another thread's at `other`. */
void contended_foresee(struct contended *contended, struct random *random, uint64_t pc, pid_t tid,
		       uint64_t other);
/* Tells the result of a watch of a site: how many threads were held there, and whether any hit
 * it. */
void contended_tell(struct contended *contended, uint64_t pc, unsigned held, bool come);
/* Was a thread seen to hit the instruction that the site's access conflicts with? */
bool contended_is_met(const struct contended *contended, const struct contended_site *site);
/* How much an instruction is worth a watch, by itself. */
typedef unsigned interest_fn(void *context, uint64_t pc);
/* May the site be chosen? */
typedef bool contended_filter_fn(void *context, const struct contended_site *site);

/* Is there a foreseen conflict that was not looked at often? `filter` may be NULL. */
bool contended_promises(const struct contended *contended, contended_filter_fn *filter,
			void *context);

struct contended_wish {
	bool scarce; /* little of the budget is left */
	interest_fn *interest_of;
	contended_filter_fn *filter; /* NULL: any */
	void *context;		     /* of both */
};

/* Draws a site that is worth a watch now, and tells how much it is worth; NULL: none. A site that
 * was tried often without a find leaves its turn to others; otherwise, of few contended sites one
 * would always be chosen. */
struct contended_site *contended_choose(struct contended *contended, struct random *random,
					const struct contended_wish *wish, unsigned *interest);

#endif
