/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account: what watching costs the program, kept within the user's budget.
 *
 * Charged: the controller's own CPU time; the CPU time that handlers measure of themselves; for
 * each hit the trap and the signal around its handler; for each sample a fixed price, since an
 * interrupt cannot be measured from outside; opening, switching and closing events on other CPUs;
 * and what events cost threads that sleep and wake (cost/wakeups.h). Allowed: the budget's share of
 * the CPU time that the program used, or of a quarter of one CPU where it mostly sleeps. The
 * difference is kept in a token bucket, which is not empty at the start, since the first finds come
 * early. While it is in debt nothing is armed. Reading symbols for a finding is measured and not
 * charged: it happens once a finding, while every slot is silent.
 *
 * Shown and not charged, since nothing that could be left out would lower it: what threads pay at
 * each switch because they have had events, and what threads and processes pay to be born and to
 * end with them.
 *
 * The other half of the budget, the latency of each thread, is kept where threads are held
 * (src/handler). Pure arithmetic, run by the controller's thread some ten times a second.
 */
#ifndef COST_BUDGET_H
#define COST_BUDGET_H

#include "cost/bucket.h"
#include "cost/prices.h"

/* What processes have used so far; ns but for `hits`. */
struct spending {
	uint64_t program;  /* CPU time, including what hits took of it */
	uint64_t hits;	   /* that were delivered */
	uint64_t handling; /* CPU time in handlers */
	uint64_t held;
	uint64_t queued;  /* time that work waited for held threads, estimated */
	uint64_t wakeups; /* CPU time for events as threads sleep and wake, estimated */
	uint64_t samples; /* CPU time for clock interrupts, estimated */
	uint64_t idle; /* CPU time that threads pay at each switch whatever is armed, estimated */
	uint64_t interrupts; /* CPU time for switching events in threads, estimated */
	uint64_t births;     /* threads that were born */
	uint64_t processes;
};

struct budget {
	double percent;
	struct bucket bucket;
	double income; /* ns a second that were earned lately */
	/* ns that are still to be left uncharged: of wake-ups and interrupts, and of samples all
	 * but the last `loan_kept`. */
	uint64_t loan, loan_kept;
	uint64_t exempt; /* ns of the controller's CPU time that are not charged */
	uint64_t spent, settled_at;
	uint64_t paused_until; /* nothing is armed before this time */
	bool sleepy;	       /* the program mostly waits, so whatever it does it does seldom */
	struct prices prices;
	struct spending sum;	 /* of all processes, including those that have ended */
	uint64_t program_before; /* sum.program at the last settlement */
};

struct budget_terms {
	double percent;
	double loan;	 /* seconds of CPU time in the bucket at the start; negative: the usual */
	bool aggressive; /* the bucket holds little at the start */
};

/* `own`: the controller's CPU time so far. */
void budget_start(struct budget *budget, const struct budget_terms *terms, uint64_t own,
		  uint64_t now);

/* Adds what a process has used since `seen`, and remembers it there. A `program` of 0 says that
 * the process has ended and its clock is gone. */
void budget_add(struct budget *budget, struct spending *seen, const struct spending *used);

/* CPU time spent since the last settlement, ns, as estimated; see struct wakeups_cost. */
struct budget_estimate {
	int64_t wakeups;
	uint64_t samples, idle;
	uint64_t interrupts; /* since the start */
	/* all code that samples show is new, so they are worth more than they may cost */
	bool lend_samples;
};

/* Settles the account. True: the bucket is empty, and `paused_until` says for how long. */
bool budget_settle(struct budget *budget, const struct budget_estimate *estimate, uint64_t own,
		   uint64_t now);

/* CPU time that threads and processes took to be born with events and to end, ns, estimated. It
 * is a part of what was taken of the program's own threads. */
uint64_t budget_births(const struct budget *budget);
/* CPU time that the controller used outside the program's threads, ns; `own` is all of its CPU
 * time. */
uint64_t budget_outside(const struct budget *budget, uint64_t own);
/* Percent of the program's own CPU time that watching takes in all. */
double budget_cost(const struct budget *budget, uint64_t own);

/* Percent of the bucket that is spent; above 100 nothing may be armed. */
unsigned budget_spent(const struct budget *budget, uint64_t now);

/* True while the bucket holds less than an eighth of a second: then promising sites come before
 * new ones. */
bool budget_is_scarce(const struct budget *budget);

#endif
