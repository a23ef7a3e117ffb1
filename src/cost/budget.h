/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all this costs, and keeping it within the budget.
 *
 * Spent: the controller's own CPU time; the CPU time that handlers measure of themselves; for each
 * hit the trap and signal around the handler; for each sample a fixed price, since nobody can
 * measure an interrupt from outside; what it takes of threads on other CPUs to open, switch and
 * close events there; and what events cost threads that sleep and wake (cost/wakeups.h). Allowed:
 * the budget's share of the CPU time that the program used, or of a quarter of one CPU where it
 * mostly sleeps. The difference is kept in a token bucket, with some to begin with, since the first
 * finds come early; in debt nothing is armed until time has paid for it. Reading symbols for a
 * finding is measured and not counted: it happens once a finding, while every slot is silent.
 *
 * Told and not spent, since nothing that could be left out would lower it: what threads pay at each
 * switch because they have had events, and what threads and processes pay to be born and to end
 * with them.
 *
 * The other half of the budget, any thread's latency, is kept where the holds are (src/handler).
 * Pure arithmetic, run by the controller's thread some ten times a second.
 */
#ifndef COST_BUDGET_H
#define COST_BUDGET_H

#include "cost/bucket.h"
#include "cost/prices.h"

/* What processes have used so far; ns but for `hits`. */
struct spending {
	uint64_t program;  /* CPU time, with what hits took of it */
	uint64_t hits;	   /* delivered */
	uint64_t handling; /* CPU time in handlers */
	uint64_t held;
	uint64_t queued;  /* that work waited for held threads, estimated */
	uint64_t wakeups; /* CPU time for events as threads sleep and wake, estimated */
	uint64_t samples; /* CPU time for clock interrupts, estimated */
	uint64_t idle; /* CPU time that threads pay at each switch whatever is armed, estimated */
	uint64_t interrupts; /* CPU time for switching events in threads, estimated */
	uint64_t births;     /* of threads */
	uint64_t processes;
};

struct budget {
	double percent;
	struct bucket bucket;
	double income; /* ns a second that were earned lately */
	/* ns that are still to be left uncharged: of wake-ups, interrupts and, but for the last
	 * `loan_kept` of it, samples. */
	uint64_t loan, loan_kept;
	uint64_t exempt; /* ns of our own CPU time that are not counted */
	uint64_t spent, settled_at;
	uint64_t paused_until; /* nothing is armed before */
	bool sleepy;	       /* the program mostly waits: what it does, it does seldom */
	struct prices prices;
	struct spending sum;	 /* of all processes, those that have ended too */
	uint64_t program_before; /* sum.program at the last settlement */
};

struct budget_terms {
	double percent;
	double loan;	 /* seconds of CPU time in the bucket at the start; negative: the usual */
	bool aggressive; /* little is saved up before the start */
};

/* `own`: the controller's CPU time so far. */
void budget_start(struct budget *budget, const struct budget_terms *terms, uint64_t own,
		  uint64_t now);

/* Adds what a process has used since `seen`, and remembers it there. A `program` of 0: its clock is
 * gone, as it has ended. */
void budget_add(struct budget *budget, struct spending *seen, const struct spending *used);

/* CPU time spent since the last settlement, ns, as estimated; see struct wakeups_cost. */
struct budget_estimate {
	int64_t wakeups;
	uint64_t samples, idle;
	uint64_t interrupts; /* all so far */
	bool lend_samples;   /* all they show is new: they are worth more than they may cost */
};

/* True: the bucket is empty, and `paused_until` says for how long. */
bool budget_settle(struct budget *budget, const struct budget_estimate *estimate, uint64_t own,
		   uint64_t now);

/* What threads and processes took to be born with events, and to end, ns of CPU time, estimated: a
 * part of what was taken of the program's own threads. */
uint64_t budget_births(const struct budget *budget);
/* What we used beside it, of `own`. */
uint64_t budget_outside(const struct budget *budget, uint64_t own);
/* Percent of the program's own CPU time that all of this takes. */
double budget_cost(const struct budget *budget, uint64_t own);

/* Percent of what the bucket can hold that is not in it; above 100 nothing may be armed. */
unsigned budget_spent(const struct budget *budget, uint64_t now);

/* With less than an eighth of a second in the bucket, what is promising comes before what is new.
 */
bool budget_is_scarce(const struct budget *budget);

#endif
