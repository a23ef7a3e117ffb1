/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a finding's access is in a process that runs now: the instruction itself where the build is
 * the same, else those of the same function on the nearest line that make such an access, else by
 * the bytes from the function's start, else by the offset in its file. Asks the reader of symbols,
 * which takes milliseconds: once for each finding and each change of the modules.
 */
#ifndef AIM_FIND_H
#define AIM_FIND_H

#include "explore/explorer.h"
#include "record/aim.h"

#define AIM_INSTRUCTIONS 16 /* of one access */

struct aim_found {
	enum aim_how how;
	unsigned line; /* 0: not known */
	uint64_t pc[AIM_INSTRUCTIONS];
	unsigned count;
};

void aim_find(struct target *target, const struct aim *aim, const struct aim_side *side,
	      struct aim_found *found);

#endif
