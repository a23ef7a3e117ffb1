/* SPDX-License-Identifier: Apache-2.0 */
/* Lasting watches within a budget: a slot that costs too much rests until time has paid for it.
 * Times are of CLOCK_MONOTONIC, in ns. */
#ifndef LASTING_DUTY_H
#define LASTING_DUTY_H

#include "target/target.h"

/* What is kept of one slot; it rests while slot->resting is set. */
struct duty {
	/* Its rate when it last watched is not known: hits took nearly all of the time. */
	bool unknown;
	bool at_least;	/* the same before some earlier rest, whose hits `estimated` lacks */
	int64_t credit; /* ns of the program's time that hits may take */
	uint64_t looked,
		cost_seen;    /* when `credit` was last reckoned, and the cost until then, ns */
	uint64_t phase_began; /* when it last began to watch or to rest */
	uint64_t hits_before, busy_before, cpu_before; /* hits, and ns, when the phase began */
	double rate;		  /* hits per ns of CPU time when it last watched */
	double estimated;	  /* hits while it rested */
	uint64_t watched, rested; /* ns */
	uint64_t value, stride;	  /* when it began to rest; stride 0: its hits do not count up */
	uint64_t proven;	  /* the stride that earlier windows agree on; 0: none */
	bool framed;		  /* it has rested for framed.h's reason at least once */
	uint64_t framed_until;	  /* it rests for that reason until then; 0: it does not */
};

/* Measures what a hit costs, where the budget is below 100 %. */
void duty_start(struct program *program);
/* The slot has just been armed: its first window begins, with full credit. */
void duty_begin(struct target *target, struct slot *slot);
/* Looks at each armed slot: those without credit rest, those with enough of it watch again. */
void duty_run(struct program *program);
/* When duty_run() is due again; UINT64_MAX: never. */
uint64_t duty_next(const struct program *program);

/* Silences a slot, and lets it watch again, noting what that costs and hides. */
void duty_rest(struct target *target, struct slot *slot, uint64_t now);
void duty_wake(struct target *target, struct slot *slot, uint64_t now);

#endif
