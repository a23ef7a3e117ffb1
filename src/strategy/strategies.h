/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two strategies that choose what is watched, and the manners of the first: when watches begin
 * and end, and which watch gets the next slot. What is known, chosen and answered stands in the
 * rooms below. The controller's thread runs all of it.
 */
#ifndef STRATEGY_STRATEGIES_H
#define STRATEGY_STRATEGIES_H

#include "explore/manner.h"
#include "explore/strategy.h"

/* For races, and that of google/gwpsan to compare with. */
extern const struct strategy choosing_strategy, stall_first_strategy;
extern const struct manner manner_together, manner_singly;
/* The manners of struct explorer. */
extern const struct manner *const choosing_manners[2];

#endif
