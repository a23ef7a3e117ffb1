/* SPDX-License-Identifier: Apache-2.0 */
#include "team/watches.h"

#include <stdlib.h>

/* For holds in all processes together, for each percent of the budget: so many ns are lent at the
 * start, and a quarter of what the budget earns may go to them. */
#define LENT (20 * MILLISECOND)
#define BUDGET_PARTS 4
#define ENTRY_WINDOW (100 * MILLISECOND)
#define ENTRY_HOLD (2 * MILLISECOND) /* ends as soon as the function is watched */
#define FUNCTION_WINDOW (60 * MILLISECOND)
#define FUNCTION_HOLD (4 * MILLISECOND) /* ends as soon as another thread has come */
#define PLACE_WINDOW (15 * MILLISECOND)
/* The time in which another thread walks to the place, or is first given a processor, or created.
 */
#define PLACE_HOLD (2 * MILLISECOND)
#define BIRTH_HOLD (4 * MILLISECOND)

bool team_watches_begin(struct target *target)
{
	if (!target->explored->team_watches)
		target->explored->team_watches = calloc(1, sizeof(struct team_watches));
	return target->explored->team_watches;
}

void team_watches_end(struct target *target)
{
	free(target->explored->team_watches);
	target->explored->team_watches = NULL;
}

static bool is_lent_out(const struct target *target)
{
	const struct program *program = target->program;
	double earned = (double)(clock_now() - program->started) / 100 / BUDGET_PARTS;

	return (double)explorer_of(target)->team_loan->lent >
	       ((double)LENT + earned) * program->options.budget;
}

bool team_may_hold(const struct target *target)
{
	return !is_lent_out(target) && !target->transient.on && !target->debugged;
}

bool team_has_role(const struct target *target, const struct slot *slot, enum role role)
{
	const struct team_watches *watches = team_watches_of(target);

	return (watches ? watches->watch[slot->index].role : ROLE_NONE) == role;
}

int team_watch_for(struct target *target, struct slot *slot, enum role role,
		   enum heuristic heuristic, const struct team_place *place, unsigned hits)
{
	static const struct {
		uint64_t hold, window;
		unsigned access;
	} kinds[] = {
		[ROLE_ENTRY] = {ENTRY_HOLD, ENTRY_WINDOW, TL_EXEC},
		[ROLE_FUNCTION] = {FUNCTION_HOLD, FUNCTION_WINDOW, TL_EXEC},
		[ROLE_PLACE] = {PLACE_HOLD, PLACE_WINDOW, TL_READ | TL_WRITE},
	};
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = target->pid,
				 .address = place->address,
				 .length = place->length,
				 .access = kinds[role].access,
				 .hits = hits,
				 .hold = kinds[role].hold,
				 .window = kinds[role].window};
	int err;

	if (role == ROLE_PLACE && heuristic == HEURISTIC_BIRTH)
		watch.hold = BIRTH_HOLD;
	team_watches_of(target)->arming = true;
	err = slot_arm(target, slot, &watch);
	team_watches_of(target)->arming = false;
	if (err)
		return err;
	team_watches_of(target)->watch[slot->index].role = role;
	choice_of(target, slot)->heuristic = heuristic;
	return 0;
}

/* May the slot be taken for a place or a function? One on the entry point that was hit last may be,
 * too: its next hit is not expected soon. */
static bool is_to_spare(const struct target *target, const struct slot *slot)
{
	return team_has_role(target, slot, ROLE_NONE) ||
	       (team_has_role(target, slot, ROLE_ENTRY) &&
		slot->watch.address == team_watches_of(target)->last);
}

struct slot *team_free_slot(struct target *target)
{
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < target->slots; i++) {
			struct slot *slot = &target->slot[i];

			if (hits_are_held(slot) ||
			    (slot->armed && (!pass || !is_to_spare(target, slot))))
				continue;
			if (slot->armed)
				explorer_of(target)->events->unwatched(target, slot);
			slot_disarm(target, slot);
			hits_forget_slot(explorer_of(target)->hits, slot);
			/* The hit that was probed is gone. */
			choice_of(target, slot)->probed_until = 0;
			return slot;
		}
	return NULL;
}

static bool was_tried(const struct team_watches *watches, uint64_t address)
{
	for (unsigned i = 0; i < TRIED; i++)
		if (watches->tried[i] == address)
			return true;
	return false;
}

static void watch_place(struct target *target, struct slot *slot, enum heuristic heuristic,
			unsigned hits, const struct team_place *place)
{
	struct team_watches *watches = team_watches_of(target);

	watches->tried[watches->tries++ % TRIED] = place->address;
	if (!team_watch_for(target, slot, ROLE_PLACE, heuristic, place, hits))
		count_one(target->program, COUNT_TEAM_PLACES);
}

void team_watch_places(struct target *target, enum heuristic heuristic, unsigned hits,
		       const struct team_place *places, unsigned count)
{
	unsigned from = count ? (unsigned)(random_next(&target->program->random) % count) : 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < count; i++) {
			const struct team_place *place = &places[(from + i) % count];
			struct slot *slot;

			if (slot_watching(target, place->address) ||
			    (!pass && was_tried(team_watches_of(target), place->address)))
				continue;
			slot = team_free_slot(target);
			if (!slot)
				return;
			watch_place(target, slot, heuristic, hits, place);
		}
}

void team_lend(struct target *target, uint64_t held)
{
	explorer_of(target)->team_loan->lent += held;
}
