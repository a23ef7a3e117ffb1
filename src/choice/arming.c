/* SPDX-License-Identifier: Apache-2.0 */
#include "choice/arming.h"

#include "aim/aim.h"
#include "hold/hold.h"

void arming_finish(struct explorer *explorer, struct target *target, struct slot *slot)
{
	if (slot->watch.access & TL_EXEC)
		slot_silence(target, slot);
	else
		slot_disarm(target, slot);
	if (slot->watch.access & TL_EXEC)
		code_unwatched(target, slot);
	else
		cooldown_note(target, slot);
	explorer->events->unwatched(target, slot);
}

void arming_forget_hits(struct target *target, struct slot *slot)
{
	hits_forget_slot(explorer_of(target)->hits, slot);
	choice_of(target, slot)->probed_until = 0; /* the hit that was probed is gone */
}

unsigned code_slots(const struct target *target, bool lasting)
{
	unsigned code = 0;

	for (unsigned i = 0; i < target->slots; i++)
		code += target->slot[i].armed && (target->slot[i].watch.access & TL_EXEC) &&
			code_watch_of(target, &target->slot[i])->lasts == lasting;
	return code;
}

bool is_for_code(const struct target *target, const struct slot *slot)
{
	return slot->index + 1 < target->slots || target->slots == 1;
}

bool may_watch(const struct explorer *explorer, uint64_t now)
{
	uint64_t begin = explorer->program->started + explorer->program->options.start_delay;

	return now >= explorer->budget->paused_until && now >= begin &&
	       (!explorer->program->options.duration ||
		now <= begin + explorer->program->options.duration);
}

void suit_threads(const struct target *target, struct tl_watch *watch)
{
	if (!arms_slowly(target))
		return;
	if (watch->widen) {
		watch->widen = false;
		watch->access = TL_READ | TL_WRITE;
	}
	if ((watch->access & TL_EXEC) && watch->hold < 3 * target->arm_time)
		watch->hold = 3 * target->arm_time < HOLD_LONGEST ? 3 * target->arm_time
								  : HOLD_LONGEST;
}

bool arm_code(struct target *target, struct slot *slot, const struct code_wish *wish,
	      uint64_t window, uint64_t aimed)
{
	struct code_choice code;

	if (!code_choose(target, wish, &code))
		return false;
	if (code_slots(target, true))
		code.doublings = 0;
	code.watch.window = window << code.doublings;
	if (code.heuristic == HEURISTIC_AIM && aimed)
		code.watch.window = aim_window(target, window, aimed);
	suit_threads(target, &code.watch);
	if (!slot_arm(target, slot, &code.watch)) {
		code_armed(target, slot, &code);
		hold_keep(target, slot);
	}
	return true;
}

void arming_begin(struct target *target, const struct slot *slot)
{
	*choice_of(target, slot) = (struct slot_choice){0};
	*code_watch_of(target, slot) = (struct code_watch){0};
}
