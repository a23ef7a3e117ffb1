/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware slots of a watched process. Each is one event (or one a thread, where the process was
 * not alone when it was opened), moved from address to address and never closed meanwhile.
 *
 * The generation in the area is even while a slot is silent or changing and odd while its hits
 * count; it travels in the signal's data, so that a hit on its way during a change is known as
 * stale.
 */
#include "control/private.h"

#include "base/syscall.h"
#include "control/switches.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>

/* ns; bounds what a controller that is itself waiting, for a terminal say, costs a thread. */
#define LASTING_PATIENCE (1000 * 1000000u)
#define HOLD_PHASE (SECOND / 2)
#define HOLD_PHASES 4 /* of these, in the last holds are long */
#define HOLD_LONG (4 * MILLISECOND)
#define RHYTHM_RESERVE (6 * MILLISECOND)
#define HOLD_RESERVE (MILLISECOND / 2) /* of time saved up: half of what is wanted at code */

struct coverage_target slot_coverage(const struct target *target)
{
	return (struct coverage_target){
		.pid = target->pid, .scope = TL_PROCESS, .best_effort = true};
}

static struct coverage_target covered_by(const struct target *target, const struct slot *slot)
{
	struct coverage_target coverage = slot_coverage(target);

	if (slot->only) {
		coverage.scope = TL_THREAD;
		coverage.pid = slot->only;
	} else if (slot->brief && target->brief.single && target->brief.running_count) {
		coverage.scope = TL_THREADS;
		coverage.tids = target->brief.running;
		coverage.ntids = target->brief.running_count;
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
				     .kernel = target->control->options.kernel,
				     .disabled = true};
}

int slot_open(struct target *target, struct slot *slot)
{
	/* Some valid address: it is silent until it is armed. */
	struct tl_watch nowhere = {.address = 4096, .length = 8};
	/* What a moved event may not change is whether it sees the kernel; one that breaks on code
	 * never does. */
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

/* Its holds go on: they need no event. */
static void close_silent(struct slot *slot)
{
	coverage_close(&slot->coverage);
	slot->open = false;
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

	if (slot->armed || target->brief.on)
		return;
	if (slot->open && slot->version == active->version)
		return;
	close_silent(slot);
	slot->brief = false;
	slot->only = 0;
	slot->version = active->version;
	slot->few = active->few;
	slot->watch = (struct tl_watch){0};
	if (slot_open(target, slot) && slot->few) {
		slot->few = false;
		slot_open(target, slot);
	}
	count_one(target->control, COUNT_SLOTS_MOVED);
}

static int point(struct target *target, struct slot *slot, unsigned access)
{
	struct perf_request request = request_for(target, &slot->watch, access);
	struct coverage_target coverage = covered_by(target, slot);
	uint64_t data = area_tag(target->index, slot->index, slot->generation);
	int err = cover_modify(&slot->coverage, &coverage, &request, data);
	uint64_t begin;

	if (err)
		return err;
	begin = control_now();
	err = coverage_enable(&slot->coverage, &coverage);
	target->arm_time = (3 * target->arm_time + (control_now() - begin)) / 4;
	return err;
}

/* Opened where it is to watch: moving an open event takes two calls a thread more. */
static int open_brief(struct target *target, struct slot *slot, unsigned access)
{
	struct perf_request request = request_for(target, &slot->watch, access);
	struct coverage_target coverage = covered_by(target, slot);
	uint64_t data = area_tag(target->index, slot->index, slot->generation);
	uint64_t begin = control_now();
	int err;

	request.disabled = false;
	err = cover_open(target, &slot->coverage, &coverage, &request, data);
	slot->open = !err;
	if (!slot->only)
		target->arm_time = (3 * target->arm_time + (control_now() - begin)) / 4;
	return err;
}

/*
 * A thread that comes by data all the time is held there, shortly, as often as it has saved up for
 * that, and would never have what a hold at an instruction takes. So every other watch of data
 * leaves it so much.
 */
static uint64_t reserve_of(const struct target *target, const struct slot *slot)
{
	struct control *control = target->control;

	if (meeting_is_on(target))
		return RHYTHM_RESERVE;
	if ((slot->watch.access & TL_EXEC) || control->options.lasting ||
	    control->options.stall_first || control_random(control) % 2)
		return 0;
	return HOLD_RESERVE;
}

/*
 * In a program that mostly sleeps a hold may be long. Who comes shortly after another, since that
 * one woke it, comes to it again only in a long hold, which nobody has saved up for where short
 * ones are to be had all the time: so these alternate.
 */
static void publish_hold(const struct target *target, const struct slot *slot,
			 struct area_slot *shared)
{
	const struct control *control = target->control;
	uint64_t age = slot->armed_at - control->started;

	shared->hold = slot->watch.hold;
	shared->hold_most = slot->watch.hold;
	shared->reserve = reserve_of(target, slot);
	if (!control->sleepy || control->options.stall_first || control->options.lasting)
		return;
	if (age / HOLD_PHASE % HOLD_PHASES == HOLD_PHASES - 1 && shared->hold < HOLD_LONG)
		shared->hold = HOLD_LONG;
	if (shared->hold_most < HOLD_LONGEST)
		shared->hold_most = HOLD_LONGEST;
}

void slot_publish(struct target *target, struct slot *slot)
{
	struct area_slot *shared = &target->shared->slot[slot->index];

	shared->hold_limit = slot->watch.hits;
	publish_hold(target, slot, shared);
	shared->armed_at = slot->armed_at;
	shared->address = slot->watch.address;
	shared->length = slot->watch.length;
	shared->patience = target->control->options.lasting ? LASTING_PATIENCE : 0;
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
		switches_armed(target, slot);
	slot->armed = true;
	meeting_begin(target, slot);
}

static int arm(struct target *target, struct slot *slot, const struct tl_watch *watch)
{
	int err;

	if (slot->brief || target->brief.on)
		close_silent(slot);
	slot->brief = target->brief.on;
	slot->watch = *watch;
	slot->wide = false;
	slot->widenings = 0;
	slot->seen = 0;
	slot->place = 0;
	slot->start = slot->probes = false;
	slot->probe.until = 0;
	slot->identities = 0;
	slot->armed_at = control_now();
	slot->deadline = slot->armed_at + watch->window;
	slot_publish(target, slot);
	/* Where slots were brief until now none is open. */
	err = slot->brief || !slot->open ? open_brief(target, slot, watch->access)
					 : point(target, slot, watch->access);
	if (err) {
		count_one(target->control, COUNT_WATCHES_FAILED);
		slot_disarm(target, slot);
		return err;
	}
	count_one(target->control, watch->access & TL_EXEC ? COUNT_CODE_WATCHES : COUNT_WATCHES);
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
	slot->comings = thread->comings;
	count_one(target->control, COUNT_SINGLE_WATCHES);
	return arm(target, slot, watch);
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
	count_one(target->control, COUNT_WATCHES_WIDENED);
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

	if (!slot->armed)
		return;
	slot->armed = false;
	switches_silent(target, slot);
	/* First the generation: whoever is late is stale from here on. */
	slot->generation = (slot->generation + 1) & ~1u;
	atomic_store(&shared->generation, slot->generation);
	if (slot->brief || target->brief.on)
		close_silent(slot);
	else
		coverage_disable(&slot->coverage, &coverage);
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
