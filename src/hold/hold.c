/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How threads are held at an address. Where the threads that access it are periodic, the first of
 * two that are about to coincide is held, and hits at other times mostly are not. An address whose
 * watch cost too much cools down.
 */
#include "hold/hold.h"

#include "explore/manner.h"

#include <stdatomic.h>

/* The periods of threads at the address; NULL: none are known. */
static struct periods *known(struct target *target, uint64_t address)
{
	for (unsigned i = 0; i < PERIOD_ADDRESSES; i++)
		if (target->explored->memory.periods[i].address == address)
			return &target->explored->memory.periods[i];
	return NULL;
}

static struct periods *find(struct target *target, uint64_t address)
{
	struct periods *found = known(target, address);

	if (found)
		return found;
	found = &target->explored->memory.periods[0];
	for (unsigned i = 1; i < PERIOD_ADDRESSES; i++)
		if (target->explored->memory.periods[i].seen < found->seen)
			found = &target->explored->memory.periods[i];
	*found = (struct periods){.address = address};
	return found;
}

/* Writes the coincidence that handlers are to expect. Its end makes it count: that is written last,
 * and is zero meanwhile. Pairs with the acquire in is_meeting_expected() of handler/handler.c. */
static void plan(struct target *target, const struct slot *slot, const struct periods *periods)
{
	struct area_slot *shared = &target->shared->slot[slot->index];
	uint64_t now = clock_now(), planned = atomic_load(&shared->meeting_until);
	struct coincidence next = period_coincidence(periods, now);

	/* The coincidence foretold last is not over: the second thread may still come. */
	if (now < planned && now >= atomic_load(&shared->meeting_from) && next.periodic)
		return;
	atomic_store(&shared->meeting_until, 0);
	atomic_store(&shared->meeting_from, next.from);
	atomic_store(&shared->meeting_until, next.until);
	atomic_store(&shared->rhythmic, next.periodic);
	if (next.until > planned)
		count_one(target->program, COUNT_COINCIDENCES);
}

static bool may_be_periodic(const struct target *target, const struct slot *slot)
{
	return slot->armed && !(slot->watch.access & TL_EXEC) && manner_of(target)->learns &&
	       !is_off(target, HEURISTIC_COINCIDENCE);
}

void meeting_note(struct target *target, const struct slot *slot, const struct hit *hit)
{
	struct visit visit = {hit->access.identity, hit->entry, hit->exit ? hit->exit : hit->entry,
			      hit->access.access};
	struct periods *periods;

	if (!hit->usable || !may_be_periodic(target, slot))
		return;
	periods = find(target, slot->watch.address);
	period_visit(periods, &visit);
	plan(target, slot, periods);
}

static void begin_meeting(struct target *target, const struct slot *slot)
{
	const struct periods *periods = known(target, slot->watch.address);

	if (periods && may_be_periodic(target, slot))
		plan(target, slot, periods);
}

bool meeting_waits(const struct target *target, const struct slot *slot)
{
	return slot->armed && atomic_load(&target->shared->slot[slot->index].rhythmic);
}

static bool meeting_is_on(const struct target *target)
{
	for (unsigned i = 0; i < target->slots; i++)
		if (meeting_waits(target, &target->slot[i]))
			return true;
	return false;
}

/* In a program that mostly waits the slot sees readers, too, so that their periods are learnt: a
 * slot for writes alone would not show them. */
void meeting_suit(struct target *target, struct tl_watch *watch)
{
	const struct periods *periods = known(target, watch->address);
	struct coincidence next;

	if (!periods || (watch->access & TL_EXEC) || !manner_of(target)->learns ||
	    !explorer_of(target)->budget->sleepy)
		return;
	next = period_coincidence(periods, clock_now());
	if (!next.conflicts)
		return;
	watch->access = TL_READ | TL_WRITE;
	watch->widen = false;
	if (!next.periodic || meeting_is_on(target))
		return;
	watch->hits = SLOT_HITS_MAX;
	watch->window = COINCIDENCE_WINDOW;
}

/*
 * ns of its hold credit that a thread keeps when it hits the slot. A thread that accesses watched
 * data all the time is held there, shortly, as often as its credit allows, and would never have
 * enough for a hold at an instruction: so every other watch of data leaves it this much.
 */
static uint64_t reserve_of(const struct target *target, const struct slot *slot)
{
	if (meeting_is_on(target))
		return COINCIDENCE_RESERVE;
	if ((slot->watch.access & TL_EXEC) || slot->owner || is_off(target, HEURISTIC_RESERVE) ||
	    random_next(&target->program->random) % 2)
		return 0;
	return HOLD_RESERVE;
}

bool hold_is_led(const struct target *target, const struct slot *slot)
{
	enum heuristic heuristic = choice_of(target, slot)->heuristic;

	return heuristic == HEURISTIC_FORESIGHT || heuristic == HEURISTIC_AIM;
}

void hold_keep(struct target *target, const struct slot *slot)
{
	struct area_slot *shared = &target->shared->slot[slot->index];

	if (!hold_is_led(target, slot) &&
	    atomic_load_explicit(&shared->reserve, memory_order_relaxed) < FORESEEN_RESERVE &&
	    manner_of(target)->learns &&
	    contended_promises(&target->explored->memory.contended, NULL, NULL))
		atomic_store_explicit(&shared->reserve, FORESEEN_RESERVE, memory_order_relaxed);
}

/*
 * In a program that mostly sleeps a hold may be long. A thread that another one wakes reaches the
 * address some 50 us after it: only a hold longer than that sees both, and no thread has saved up
 * for one where short holds are to be had all the time. So phases of short holds and of long ones
 * alternate.
 */
void choose_hold(struct target *target, struct slot *slot)
{
	struct area_slot *shared = &target->shared->slot[slot->index];
	uint64_t age = slot->armed_at - target->program->started;

	atomic_store_explicit(&shared->reserve, reserve_of(target, slot), memory_order_relaxed);
	if (slot->owner || !slot->watch.hold)
		return;
	begin_meeting(target, slot);
	if (!explorer_of(target)->budget->sleepy || is_off(target, HEURISTIC_LONG_HOLDS))
		return;
	if (age / HOLD_PHASE % HOLD_PHASES == HOLD_PHASES - 1 && shared->hold < HOLD_LONG)
		shared->hold = HOLD_LONG;
	if (shared->hold_most < HOLD_LONGEST)
		shared->hold_most = HOLD_LONGEST;
}

void cooldown_note(struct target *target, const struct slot *slot)
{
	const struct explorer *explorer = explorer_of(target);
	uint64_t hits = atomic_load(&target->shared->slot[slot->index].hits);
	uint64_t over = hits > slot->watch.hits ? hits - slot->watch.hits : 0;
	double pays = (double)(over * explorer->budget->prices.hit) * 100 /
		      explorer->program->options.budget;
	bool by_writers = slot->watch.access == TL_WRITE && !slot->widenings;

	if (over && !is_off(target, HEURISTIC_COOLDOWN))
		cooldown_begin(&target->explored->memory.cooldowns, slot->watch.address, by_writers,
			       clock_now(), (uint64_t)pays);
}

bool cooldown_forbids(struct target *target, const struct tl_watch *watch)
{
	return cooldown_is_on(&target->explored->memory.cooldowns, watch->address,
			      watch->widen || (watch->access & TL_READ), clock_now());
}
