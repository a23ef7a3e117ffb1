/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of `trapline flow` name each other ("node", "parent", "repeats") by numbers that each
 * run counts from 0, for the values that come and those that go. Findings of several runs are told
 * together only when they name each other by their ids instead, which are the same in all runs.
 */
#ifndef STORE_STEPS_H
#define STORE_STEPS_H

#include "record/finding.h"

/* One entry per run and id. A name that no step of the run has stays, and is no step's then. 0 or
 * -ENOMEM. */
int finding_steps_name(struct finding **findings, size_t count);

#endif
