/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a race was judged by, in one number for each of its two accesses: findings keep it, so that
 * the same rules can judge again when names or sources come later. The bits stand in files.
 */
#ifndef RACE_FACTS_H
#define RACE_FACTS_H

#include "race/rules.h"

/* Of the first access of a pair and of the second; `facts`: two. */
void facts_of(const struct rule_side *first, const struct rule_side *second,
	      const struct rule_meeting *meeting, uint32_t facts[2]);

/* Fills in what a number tells of a side and its access; the pair's meeting from both. False: none
 * was kept. */
bool facts_read(uint32_t facts, struct tl_access *access, struct rule_side *side);
void facts_meeting(const uint32_t facts[2], struct rule_meeting *meeting);

#endif
