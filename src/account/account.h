/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the watched processes and the controller have used: gathered from everywhere, priced by
 * src/cost, and taken from the budget.
 *
 * Promised: what an event costs the program is charged once, from when it is known; the sums are
 * those that --stats shows; what a finding takes is measured and not charged. The controller's
 * thread runs all of it.
 */
#ifndef ACCOUNT_ACCOUNT_H
#define ACCOUNT_ACCOUNT_H

#include "cost/pace.h"
#include "sample/windows.h"
#include "target/target.h"

struct account {
	struct program *program;
	struct budget *budget;
	struct windows *windows;
	struct pace pace;
};

void account_begin(struct account *account);
void account_open(struct target *target);
void account_collect(struct target *target); /* also at its end */
void account_settle(struct account *account);
/* What came since the last settlement, at the end of a run. */
void account_close(struct account *account);
/* Between two rounds of work: sleeps as long as it must. */
void account_pause(struct account *account);

/* Around work for a finding, which the budget does not count: see budget.c. */
uint64_t account_work_begin(const struct program *program);
void account_work_end(struct program *program, uint64_t begun);

/* Percent of the program's own CPU time that all of this takes so far, by what is measured. */
double account_cost(const struct program *program);
/* Percent of the budget that is spent; above 100 nothing may be armed. */
unsigned account_spent(const struct program *program);

#endif
