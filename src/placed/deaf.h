/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches of a tool end one after another: by their windows, by their hits, as the budget has it.
 * One that has ended records nothing, its tool is told only when its last records have been
 * waited for, and the tool's other watches are hit meanwhile. Pure functions.
 */
#ifndef PLACED_DEAF_H
#define PLACED_DEAF_H

#include "target/target.h"

/*
 * Had another watch of the tool whose watch was hit ended when that hit was made, at `entry_time`
 * (ns, CLOCK_MONOTONIC), and its tool does not know yet? A hit that was made before such an end,
 * and whose thread came to its handler after it, counts as a later one.
 */
bool placed_is_deaf(const struct program *program, const struct slot *hit, uint64_t entry_time);

#endif
