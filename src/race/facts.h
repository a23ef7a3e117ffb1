/* SPDX-License-Identifier: Apache-2.0 */
/* What a race was judged by, as one number for each of its two accesses. Findings keep it, so
 * that the same rules can judge again when names or sources become known later. Files hold these
 * numbers, so no bit may change its meaning. */
#ifndef RACE_FACTS_H
#define RACE_FACTS_H

#include "race/rules.h"

/* Writes the facts of both accesses of a pair to `facts`, the first one's first. */
void facts_of(const struct rule_side *first, const struct rule_side *second,
	      const struct rule_meeting *meeting, uint32_t facts[2]);

/* Fills in what one number says of a side and its access, and the pair's meeting from both.
 * False: no facts were kept. */
bool facts_read(uint32_t facts, struct tl_access *access, struct rule_side *side);
void facts_meeting(const uint32_t facts[2], struct rule_meeting *meeting);

#endif
