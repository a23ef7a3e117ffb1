/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contended sites: instructions whose memory other threads came to. They are worth more watches
 * than others, as long as something comes of it.
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
	pid_t tid;	   /* of a thread that was there */
	bool seen;	   /* another thread was seen to come to its memory */
	unsigned changes;  /* times its memory changed under a thread that was held there */
	unsigned tries;	   /* times it was chosen since the first change */
	uint64_t conflict; /* pc of another's access, foreseen to conflict with this one; 0: none is
			    */
	bool came;	   /* somebody was seen to come by */
	unsigned holds;	   /* of threads there */
	unsigned vain;	   /* watches in a row that nobody came by */
};

struct contended {
	struct contended_site site[CONTENDED_MAX];
	unsigned used;
};

/* Another thread came to what the instruction accesses. Where all places are taken it takes a
 * random one, rather of what was only foreseen. */
struct contended_site *contended_note(struct contended *contended, struct random *random,
				      uint64_t pc, pid_t tid);
/* Its memory changed while the thread was held there or before. */
void contended_change(struct contended *contended, struct random *random, uint64_t pc, pid_t tid);

/* Its access is foreseen to conflict with that of another thread at `other`. */
void contended_foresee(struct contended *contended, struct random *random, uint64_t pc, pid_t tid,
		       uint64_t other);
/* A watch of a site is over: how many were held there, and did anybody come by? */
void contended_tell(struct contended *contended, uint64_t pc, unsigned held, bool come);
/* Was somebody seen to come by what the site's access conflicts with? */
bool contended_is_met(const struct contended *contended, const struct contended_site *site);
/* How much an instruction is worth a watch, by itself. */
typedef unsigned interest_fn(void *context, uint64_t pc);
/* May the site be chosen? */
typedef bool contended_filter_fn(void *context, const struct contended_site *site);

/* Is there a foreseen conflict that was not looked at often? `filter` may be NULL. */
bool contended_promises(const struct contended *contended, contended_filter_fn *filter,
			void *context);

struct contended_wish {
	bool scarce; /* there is little to spend */
	interest_fn *interest_of;
	contended_filter_fn *filter; /* NULL: any */
	void *context;		     /* of both */
};

/* One that is worth a watch now, and how much it is; NULL: none. What was looked at often without a
 * find leaves its turn to others: of few contended sites one would always be chosen. */
struct contended_site *contended_choose(struct contended *contended, struct random *random,
					const struct contended_wish *wish, unsigned *interest);

#endif
