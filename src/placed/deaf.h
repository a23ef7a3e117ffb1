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
 * Had another watch of the tool whose watch was hit ended when that hit was made, of which this is
 * the record, and its tool does not know yet? A hit that was made before such an end, and whose
 * thread came to its handler after it, counts as a later one. Hits are told in the order in which
 * they were made: what has been told of the other watch was before this one.
 */
bool placed_is_deaf(const struct program *program, const struct slot *hit,
		    const struct area_hit *record);

#endif
