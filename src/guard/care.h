/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well a block is looked after where every block is guarded (`trapline heap --all`), if it is
 * one of a busy context and has neither pages of its own nor a watch: so well as the program's own
 * CPU time pays for. To keep freed blocks costs most, since what is kept is in no cache when it
 * leaves. So that goes first, when time is short, and patterns last; both by chance, so that every
 * block of a context may be one that is looked after.
 *
 * Time spent is measured at one of CARE_EACH such blocks and frees. A part of the program's own
 * time pays for it, and a loan for all processes of the run together.
 */
#ifndef GUARD_CARE_H
#define GUARD_CARE_H

#include <stdint.h>

struct area;

enum care {
	CARE_KEPT,     /* patterns around it, and it is kept when it is freed */
	CARE_PATTERNS, /* which are looked at when it is freed, and at the end */
	CARE_NONE,     /* an ordinary block, which is counted */
};

/* A prime: where allocations and frees take turns, or follow each other in another small rhythm,
 * one that divides it would measure the same kind each time. */
#define CARE_EACH 61u
#define CARE_CERTAIN 65536u /* odds of so many are certainty */

struct care_odds {
	uint32_t kept, patterns; /* of CARE_CERTAIN blocks; of `patterns`, `kept` are kept, too */
};

/* Of so much time that may be spent, so much has been. */
struct care_odds care_odds(uint64_t spent, uint64_t allowed);

/* By a number below CARE_CERTAIN, drawn. */
enum care care_drawn(struct care_odds odds, uint32_t drawn);

/* ns that the program has used itself, of all the CPU time of its process: the rest was ours. What
 * we measured is the wall's time, which on a busy machine is more than we used of the CPU's. */
uint64_t care_own(uint64_t used, uint64_t handling);

/* Of the next block. Async-signal-safe, as the rest. */
enum care care_of_next(struct area *area, uint64_t handling);

/* One of CARE_EACH took so many ns. */
void care_pay(uint64_t took);

/* In a process that is watched from now on. */
void care_begin(void);

#endif
