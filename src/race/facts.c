/* SPDX-License-Identifier: Apache-2.0 */
#include "race/facts.h"

enum {
	TRAITS = 0xffff, /* The TL_TRAIT_… bits, except: */
	BEFORE = 1 << 16,
	/* another thread may have acted on this access before the other access was made */
	SEEN = 1 << 17,
	CHANGED = 1 << 18,
	UPDATES_TELL = 1 << 19,
	AROUND_SHIFT = 20,    /* two bits: TL_AROUND_… */
	ATOMICITY_SHIFT = 22, /* three bits */
	WHOLE_VECTOR = 1 << 25,
	DISCARDED = 1 << 26,
	SENT = 1 << 27,
	OPERAND = 1 << 28,
	CLASS_KEPT = 1 << 29,
	KEPT = 1 << 30,
};

static uint32_t number_of(const struct rule_side *side, bool seen, bool changed)
{
	return KEPT | (side->access->traits & TRAITS) |
	       (side->access->traits & TL_TRAIT_WHOLE_VECTOR ? WHOLE_VECTOR : 0) |
	       (side->access->traits & TL_TRAIT_DISCARDED ? DISCARDED : 0) |
	       (side->access->traits & TL_TRAIT_SENT ? SENT : 0) |
	       (side->access->traits & TL_TRAIT_OPERAND ? OPERAND : 0) |
	       (side->access->traits & TL_TRAIT_CLASS_KEPT ? CLASS_KEPT : 0) |
	       (side->access->before ? BEFORE : 0) | (seen ? SEEN : 0) | (changed ? CHANGED : 0) |
	       (side->updates_tell ? UPDATES_TELL : 0) | (side->around & 3) << AROUND_SHIFT |
	       ((uint32_t)side->atomicity & 7) << ATOMICITY_SHIFT;
}

void facts_of(const struct rule_side *first, const struct rule_side *second,
	      const struct rule_meeting *meeting, uint32_t facts[2])
{
	facts[0] = number_of(first, meeting->first_seen, meeting->changed);
	facts[1] = number_of(second, meeting->second_seen, meeting->changed);
}

bool facts_read(uint32_t facts, struct tl_access *access, struct rule_side *side)
{
	access->traits = (facts & TRAITS) | (facts & WHOLE_VECTOR ? TL_TRAIT_WHOLE_VECTOR : 0) |
			 (facts & DISCARDED ? TL_TRAIT_DISCARDED : 0) |
			 (facts & SENT ? TL_TRAIT_SENT : 0) |
			 (facts & OPERAND ? TL_TRAIT_OPERAND : 0) |
			 (facts & CLASS_KEPT ? TL_TRAIT_CLASS_KEPT : 0);
	access->before = facts & BEFORE;
	side->updates_tell = facts & UPDATES_TELL;
	side->around = facts >> AROUND_SHIFT & 3;
	side->atomicity = (enum tl_atomicity)(facts >> ATOMICITY_SHIFT & 7);
	return facts & KEPT;
}

void facts_meeting(const uint32_t facts[2], struct rule_meeting *meeting)
{
	meeting->first_seen = facts[0] & SEEN;
	meeting->second_seen = facts[1] & SEEN;
	meeting->changed = (facts[0] | facts[1]) & CHANGED;
}
