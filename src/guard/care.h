/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much is done for an ordinary block of a busy context where every block is guarded (`trapline
 * heap --all`): one that has neither pages of its own nor a watch. That depends on the program's
 * own CPU time, which pays for it. Keeping freed blocks costs most, since their memory is in no
 * cache any more when they leave. So when time is short, first fewer blocks are kept, and only then
 * fewer have patterns. Which blocks these are is drawn, so that every block of a context may be one
 * of them.
 *
 * The time spent is measured at one in CARE_EACH of these blocks and frees, in ns. It is paid for
 * by a part of the program's own time, and by one loan for all processes of the run together.
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

/* A prime, since with a multiple of a program's rhythm (allocations and frees taking turns) the
 * same kind would be measured each time. */
#define CARE_EACH 61u
#define CARE_CERTAIN 65536u /* these odds are certainty */

struct care_odds {
	uint32_t kept, patterns; /* of CARE_CERTAIN blocks; of `patterns`, `kept` are kept, too */
};

/* The odds when of `allowed` ns `spent` have been spent. */
struct care_odds care_odds(uint64_t spent, uint64_t allowed);

/* What is done for a block for which the number `drawn`, below CARE_CERTAIN, was drawn. */
enum care care_drawn(struct care_odds odds, uint32_t drawn);

/* The ns that the program itself has used, of the CPU time `used` by its process; the rest was
 * ours. `handling` is our time by the wall's clock, which on a busy machine is more than our CPU
 * time. */
uint64_t care_own(uint64_t used, uint64_t handling);

/* What is done for the next block. Async-signal-safe, as the rest. */
enum care care_of_next(struct area *area, uint64_t handling);

/* One block in CARE_EACH took so many ns. */
void care_pay(uint64_t took);

/* In a process that is watched from now on. */
void care_begin(void);

#endif
