/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching all threads together.
 *
 * A write-only slot costs the program nothing for reads. When it is hit, its thread is held as the
 * writer and the slot is widened to reads meanwhile, so that readers hit it.
 */
#include "aim/aim.h"
#include "choice/arming.h"
#include "choice/requests.h"
#include "hold/hold.h"
#include "strategy/explored.h"
#include "strategy/strategies.h"
#include "team/team.h"

#define LOOK_INTERVAL (400 * MILLISECOND)
#define FORESIGHT_PARTS 4
#define CODE_WINDOW (60 * MILLISECOND)
/* Of so many sampled addresses at which look-ahead has shown one thread alone, one is watched. */
#define PRIVATE_PARTS 4
/* Where findings are aimed at: ns between two watches of addresses that a tool asked for. */
#define REQUEST_INTERVAL (500 * MILLISECOND)

/*
 * Is this slot to watch code? One slot does, and one is kept free for the addresses that hits at
 * code lead to. In a program that mostly waits the other slots watch code as well, unless a sampled
 * address waits for a slot. A process's only slot watches code when no address waits.
 */
static bool samples_code(struct explorer *explorer, struct target *target)
{
	unsigned code = code_slots(target, false), lasting = code_slots(target, true);

	if (target->slots == 1)
		return !request_waits(explorer, target);
	if (code + lasting + 1 >= target->slots)
		return code + lasting == 0;
	if (aim_is_on(target))
		return true;
	return code == 0 || (explorer->budget->sleepy && !request_waits(explorer, target));
}

/* How long an instruction is watched, ns. In a program that mostly waits the window is short, while
 * the bucket is more than a quarter of a second full, so that many instructions have a turn. In a
 * busy one it is long: hot code is hit at once there, and what arming costs finds more at sampled
 * addresses. */
static uint64_t code_window(const struct explorer *explorer)
{
	if (!explorer->budget->sleepy)
		return CODE_WINDOW;
	if (explorer->budget->bucket.tokens > (int64_t)(SECOND / 4))
		return CODE_WINDOW / 5;
	return budget_is_scarce(explorer->budget) ? CODE_WINDOW : CODE_WINDOW / 2;
}

/* True for three of four addresses at which look-ahead has shown one thread alone. The fourth is
 * watched all the same, since look-ahead does not see every access. */
static bool is_hardly_worth(struct target *target, const struct tl_watch *watch)
{
	return foresight_view(&target->explored->memory.foresight, watch->address) ==
		       FORESIGHT_PRIVATE &&
	       random_next(&target->program->random) % PRIVATE_PARTS;
}

/* Takes the first waiting request that is worth a watch; the ones before it are dropped. All are
 * looked at now, since this slot is not asked again before the next event. */
static bool take_worth(struct explorer *explorer, struct target *target, struct tl_watch *watch)
{
	while (request_take(explorer, target, watch)) {
		if (!is_hardly_worth(target, watch))
			return true;
		count_one(explorer->program, COUNT_REQUESTS_PRIVATE);
	}
	return false;
}

static void arm_next(struct explorer *explorer, struct target *target, struct slot *slot,
		     uint64_t now)
{
	static const struct code_wish wish = {.wakes = true};
	struct tl_watch watch;

	slot_suit_threads(target, slot);
	if (team_arm(target, slot))
		return;
	if (samples_code(explorer, target) &&
	    arm_code(target, slot, &wish, code_window(explorer) + 4 * target->arm_time,
		     WINDOW_MAX / 2))
		return;
	if (aim_is_on(target) && now < target->explored->turns->next_request)
		return;
	if (!take_worth(explorer, target, &watch))
		return;
	target->explored->turns->next_request = now + REQUEST_INTERVAL;
	suit_threads(target, &watch);
	meeting_suit(target, &watch);
	slot_arm(target, slot, &watch);
	choice_of(target, slot)->heuristic = HEURISTIC_SAMPLE;
	hold_keep(target, slot);
}

static uint64_t never(const struct target *target, const struct slot *slot)
{
	(void)target, (void)slot;
	return UINT64_MAX;
}

const struct manner manner_together = {
	.arm = arm_next,
	.due = never,
	.look_interval = LOOK_INTERVAL,
	.foresight_parts = FORESIGHT_PARTS,
	.lingers = true,
	.learns = true,
};
