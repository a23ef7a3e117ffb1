/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generation in the area is even while a slot is silent or changing and odd while its hits
 * count; it travels in the signal's data, so that a hit on its way during a change is known as
 * stale.
 */
#include "target/slot.h"

#include "base/syscall.h"
#include "base/clock.h"
#include "inject/stacks.h"
#include "target/cover.h"
#include "target/target.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>

/* ns that a thread waits for a record at most, whatever the controller itself waits for (a
 * terminal, for example) */
#define EVERY_HIT_PATIENCE (1000 * 1000000u)
#define PLACED_PATIENCE (2 * 1000000u)
#define BIRTH_LASTS (50 * MILLISECOND)

static struct coverage_target covered_by(const struct target *target, const struct slot *slot)
{
	struct coverage_target coverage = cover_threads(target);

	if (slot->only) {
		coverage.scope = TL_THREAD;
		coverage.pid = slot->only;
	} else if (slot->transient && !slot->owner && armed_is_dear(target) &&
		   target->transient.running_count) {
		coverage.scope = TL_THREADS;
		coverage.tids = target->transient.running;
		coverage.ntids = target->transient.running_count;
	} else if (slot->few) {
		coverage.scope = TL_THREADS;
		coverage.tids = target->active.tid;
		coverage.ntids = target->active.count;
	}
	return coverage;
}

static struct perf_request request_for(const struct target *target, const struct tl_watch *watch,
				       unsigned access)
{
	return (struct perf_request){.addr = watch->address,
				     .length = watch->length,
				     .access = access,
				     .signal = true,
				     /* Fixed for a slot: the kernel refuses to change it. */
				     .kernel = target->program->options.kernel &&
					       !watch->program_only,
				     .disabled = true};
}

int slot_open(struct target *target, struct slot *slot)
{
	/* Some valid address: the slot is silent until it is armed. */
	struct tl_watch nowhere = {.address = 4096, .length = 8};
	/* Whether an event sees the kernel is fixed when it is opened, and one that breaks on code
	 * never does: so the kind of access is chosen now. */
	unsigned access = slot->watch.access & TL_EXEC ? TL_EXEC : TL_WRITE;
	struct perf_request request = request_for(target, &nowhere, access);
	struct coverage_target coverage = covered_by(target, slot);
	uint64_t data = area_tag(target->index, slot->index, 0);
	int err;

	slot->generation = atomic_load(&target->shared->slot[slot->index].generation) & ~1u;
	err = cover_open(target, &slot->coverage, &coverage, &request, data);
	slot->open = !err;
	return err;
}

/*
 * An event that is opened, switched or closed in a running thread interrupts its CPU, and the
 * kernel spins here until that CPU has answered: what the program loses there is about the CPU time
 * that this took us. Wall-clock time would also count what others used of this CPU meanwhile.
 */
static void charge_interrupts(const struct target *target, uint64_t begin)
{
	target->program->interrupting += clock_read(CLOCK_THREAD_CPUTIME_ID) - begin;
}

/* Closes a silent slot. Threads that it holds stay held: a hold needs no event. */
static void close_silent(struct slot *slot)
{
	coverage_close(&slot->coverage);
	slot->open = false;
	slot->counted = 0;
	slot->places = 0;
}

void slot_close(struct target *target, struct slot *slot)
{
	if (!slot->open)
		return;
	slot_disarm(target, slot);
	close_silent(slot);
	slot->each_thread = false;
	slot->ended_hits = slot->count_before = 0;
}

void slots_close_silent(struct target *target)
{
	for (unsigned i = 0; i < target->slots; i++)
		if (target->slot[i].open && !target->slot[i].armed)
			close_silent(&target->slot[i]);
}

void slot_suit_threads(struct target *target, struct slot *slot)
{
	const struct active *active = &target->active;

	if (slot->armed || target->transient.on)
		return;
	if (slot->open && slot->version == active->version)
		return;
	close_silent(slot);
	slot->transient = false;
	slot->only = 0;
	slot->version = active->version;
	slot->few = active->few;
	slot->watch = (struct tl_watch){0};
	if (slot_open(target, slot) && slot->few) {
		slot->few = false;
		slot_open(target, slot);
	}
	count_one(target->program, COUNT_SLOTS_MOVED);
}

static int point(struct target *target, struct slot *slot, unsigned access)
{
	struct perf_request request = request_for(target, &slot->watch, access);
	struct coverage_target coverage = covered_by(target, slot);
	uint64_t data = area_tag(target->index, slot->index, slot->generation);
	int err = cover_may_move(target) ? cover_modify(&slot->coverage, &coverage, &request, data)
					 : -EPERM;
	uint64_t begin, used;

	if (err)
		return err;
	begin = clock_now();
	used = clock_read(CLOCK_THREAD_CPUTIME_ID);
	err = coverage_enable(&slot->coverage, &coverage);
	target->arm_time = (3 * target->arm_time + (clock_now() - begin)) / 4;
	charge_interrupts(target, used);
	return err;
}

/* Opens the slot at the address that it is to watch: moving an open event takes two more calls for
 * each thread. */
static int open_transient(struct target *target, struct slot *slot, unsigned access)
{
	struct perf_request request = request_for(target, &slot->watch, access);
	struct coverage_target coverage = covered_by(target, slot);
	uint64_t data = area_tag(target->index, slot->index, slot->generation);
	uint64_t begin = clock_now(), used = clock_read(CLOCK_THREAD_CPUTIME_ID);
	int err;

	request.disabled = false;
	err = cover_open(target, &slot->coverage, &coverage, &request, data);
	slot->open = !err;
	if (!slot->only)
		target->arm_time = (3 * target->arm_time + (clock_now() - begin)) / 4;
	charge_interrupts(target, used);
	return err;
}

/* From now on wake-ups of the process's threads are charged for the armed slot. */
static void begin_charging(struct target *target, const struct slot *slot)
{
	if (!slot->only)
		wakeups_arm(&target->wakeups, clock_now());
}

static void end_charging(struct target *target, const struct slot *slot)
{
	uint64_t now = clock_now();

	if (slot->only)
		wakeups_silence_single(&target->wakeups, slot->rate, now - slot->armed_at);
	else
		wakeups_silence(&target->wakeups, now);
}

void slot_publish(struct target *target, struct slot *slot)
{
	struct area_slot *shared = &target->shared->slot[slot->index];

	shared->hold_limit = slot->watch.hits;
	shared->hold = shared->hold_most = slot->watch.hold;
	/* Of one thread alone holds were chosen by what they delay already (usage/background.h). */
	shared->hold_whole = slot->only ? slot->watch.hold : 0;
	shared->answered = slot->owner && slot->watch.hold ? AREA_ANSWER_OWED : 0;
	atomic_store_explicit(&shared->reserve, 0, memory_order_relaxed);
	atomic_store(&shared->meeting_until, 0);
	atomic_store(&shared->rhythmic, 0);
	shared->armed_at = slot->armed_at;
	shared->address = slot->watch.address;
	shared->length = slot->watch.length;
	shared->patience = 0;
	if (target->program->ways.every_hit)
		shared->patience = EVERY_HIT_PATIENCE;
	else if (slot->owner)
		shared->patience = PLACED_PATIENCE;
	atomic_store(&shared->hits, 0);
	atomic_store(&shared->inside, 0);
	atomic_store(&shared->waited, 0);
	atomic_store(&shared->quota, 0);
	atomic_store(&shared->owner, 0);
	atomic_store(&shared->alone, 0);
	atomic_store(&shared->shared, 0);
	slot->generation = (slot->generation | 1) + (slot->generation & 1 ? 2 : 0);
	atomic_store(&shared->generation, slot->generation);
	if (!slot->armed)
		begin_charging(target, slot);
	slot->armed = true;
	target->program->events->publish(target, slot);
}

static bool overlap(const struct tl_watch *a, const struct tl_watch *b)
{
	return a->address < b->address + b->length && b->address < a->address + a->length;
}

/*
 * Makes room for a watch of these bytes. An access that trips two slots sends two signals, of which
 * the second finds the first pending and is lost. So no two slots watch the same bytes: a watch
 * that a tool placed stays, and one that was chosen ends.
 */
static bool makes_way(struct target *target, const struct slot *slot, const struct tl_watch *watch)
{
	for (unsigned i = 0; i < target->slots + target->placed; i++) {
		struct slot *other = &target->slot[i];

		if (other == slot || !other->armed || !(slot->owner || other->owner) ||
		    !overlap(&other->watch, watch))
			continue;
		count_one(target->program, COUNT_WATCHES_OVERLAPPING);
		if (other->owner)
			return false;
		slot_disarm(target, other);
	}
	return true;
}

static void note_place(struct slot *slot)
{
	if (slot->places < SLOT_PLACES_MAX)
		slot->place[slot->places++] = slot->watch.address;
}

/*
 * Must the event be replaced before it watches this address? A thread that is scheduled away
 * between its access and the signal brings the event's data as of the signal. If the event watched
 * the same address again by then, an access from before would pass for one of now. So an event
 * watches no address twice, unless hits are not paired: then it is kept, with the kernel's count.
 */
static bool is_used_up(const struct slot *slot, uint64_t address)
{
	for (unsigned i = 0; i < slot->places; i++)
		if (slot->place[i] == address)
			return true;
	return slot->places == SLOT_PLACES_MAX;
}

/*
 * Was a thread created while events were switched on? It may be left without events
 * (event/coverage.h). Births are counted at their beginning, by pthread_create(); clone(2) is over
 * soon after.
 */
static bool threads_are_born(struct target *target)
{
	uint32_t births = atomic_load(&target->shared->births);
	uint64_t now = clock_now();

	if (births != target->births) {
		target->births = births;
		target->born_at = now;
	}
	return now - target->born_at < BIRTH_LASTS;
}

static bool covers_all(const struct target *target, const struct slot *slot)
{
	return covered_by(target, slot).scope == TL_PROCESS && !slot->coverage.left_out;
}

/* Reads what stood at the address, so that it can be told of a store whether it changes
 * anything. */
static bool read_stood(const struct target *target, const struct slot *slot, uint64_t *stood)
{
	return !target->program->ways.unpaired && target->space &&
	       !(slot->watch.access & TL_EXEC) && slot->watch.length == 8 &&
	       space_read(target->space, slot->watch.address, stood, 8) == 8;
}

static int arm(struct target *target, struct slot *slot, const struct tl_watch *watch)
{
	bool born = threads_are_born(target);
	int err;

	if (!makes_way(target, slot, watch))
		return -EADDRINUSE;
	if (slot->transient || target->transient.on || slot->owner ||
	    (!target->program->ways.unpaired && is_used_up(slot, watch->address)))
		close_silent(slot);
	slot->transient = target->transient.on || slot->owner;
	slot->watch = *watch;
	slot->wide = false;
	slot->widenings = 0;
	slot->seen = 0;
	slot->identities = 0;
	slot->whole = slot->missed = false;
	slot->changes = atomic_load(&target->shared->guard.changes);
	slot->dropped = atomic_load_explicit(&target->shared->dropped, memory_order_relaxed);
	slot->armed_at = clock_now();
	slot->deadline = slot->armed_at + watch->window;
	slot->covered_at = UINT64_MAX;
	slot->stood_known = read_stood(target, slot, &slot->stood);
	slot_publish(target, slot);
	/* Where slots were transient until now none is open. */
	err = slot->transient || !slot->open ? open_transient(target, slot, watch->access)
					     : point(target, slot, watch->access);
	if (err) {
		count_one(target->program, COUNT_WATCHES_FAILED);
		slot_disarm(target, slot);
		return err;
	}
	note_place(slot);
	slot->whole = !threads_are_born(target) && !born && covers_all(target, slot);
	slot->covered_at = clock_now();
	count_one(target->program, watch->access & TL_EXEC ? COUNT_CODE_WATCHES : COUNT_WATCHES);
	return 0;
}

int slot_arm(struct target *target, struct slot *slot, const struct tl_watch *watch)
{
	slot->only = 0;
	return arm(target, slot, watch);
}

int slot_arm_in(struct target *target, struct slot *slot, const struct tl_watch *watch,
		const struct thread_rate *thread)
{
	slot->only = thread->tid;
	slot->rate = thread->rate;
	count_one(target->program, COUNT_SINGLE_WATCHES);
	return arm(target, slot, watch);
}

/* Opens the slot's events anew; the kernel's count of hits so far is kept. Accesses while no event
 * was open made no hit, so the watch is no longer `whole`. */
static void reopen(struct target *target, struct slot *slot)
{
	unsigned access = slot->wide ? TL_READ | TL_WRITE : slot->watch.access;

	slot->ended_hits += coverage_count(&slot->coverage);
	close_silent(slot);
	slot->whole = false;
	if (open_transient(target, slot, access))
		slot_disarm(target, slot);
	note_place(slot);
	slot->covered_at = clock_now();
}

void slots_suit_cover(struct target *target)
{
	if (target->cover_version == cover_version(target) || target->program->ways.events_stay)
		return;
	target->cover_version = cover_version(target);
	slots_close_silent(target);
	for (unsigned i = 0; i < target->slots + target->placed; i++)
		if (target->slot[i].open && !target->slot[i].each_thread)
			reopen(target, &target->slot[i]);
}

static void repoint(struct target *target, struct slot *slot, unsigned access)
{
	struct coverage_target coverage = covered_by(target, slot);

	if (coverage_disable(&slot->coverage, &coverage) || point(target, slot, access))
		slot_disarm(target, slot);
}

void slot_widen(struct target *target, struct slot *slot)
{
	if (slot->wide || !slot->armed)
		return;
	slot->wide = true;
	slot->widenings++;
	count_one(target->program, COUNT_WATCHES_WIDENED);
	repoint(target, slot, TL_READ | TL_WRITE);
}

void slot_narrow(struct target *target, struct slot *slot)
{
	if (!slot->wide || !slot->armed)
		return;
	slot->wide = false;
	repoint(target, slot, slot->watch.access);
}

void slot_silence(struct target *target, struct slot *slot)
{
	struct area_slot *shared = &target->shared->slot[slot->index];
	struct coverage_target coverage = covered_by(target, slot);
	uint64_t begin;

	if (!slot->armed)
		return;
	slot->armed = false;
	slot->silenced_at = clock_now();
	end_charging(target, slot);
	/* The generation first: from here on, hits that arrive late are stale. */
	slot->generation = (slot->generation + 1) & ~1u;
	atomic_store(&shared->generation, slot->generation);
	begin = clock_read(CLOCK_THREAD_CPUTIME_ID);
	if (slot->transient || target->transient.on)
		close_silent(slot);
	else
		coverage_disable(&slot->coverage, &coverage);
	charge_interrupts(target, begin);
}

void slot_release(struct target *target, struct slot *slot)
{
	struct area_slot *shared = &target->shared->slot[slot->index];

	atomic_fetch_add(&shared->turn, 1);
	raw_futex((uint32_t *)&shared->turn, FUTEX_WAKE, 0x7fffffff, NULL);
}

void slot_disarm(struct target *target, struct slot *slot)
{
	if (!slot->armed)
		return;
	slot_silence(target, slot);
	slot_release(target, slot);
}

struct slot *slot_watching(struct target *target, uint64_t address)
{
	for (unsigned i = 0; i < target->slots; i++)
		if (target->slot[i].armed && target->slot[i].watch.address == address)
			return &target->slot[i];
	return NULL;
}
