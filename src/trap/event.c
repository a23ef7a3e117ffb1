/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of an event: opening, changing, closing. */
#include "trap/arming.h"

#include "base/counters.h"
#include "base/syscall.h"
#include "trap/creation.h"
#include "trap/deliver.h"
#include "trap/dispatch.h"
#include "trap/object.h"
#include "region/region.h"
#include "trap/running.h"
#include "trap/spec.h"

#include <errno.h>
#include <string.h>

struct tagging {
	unsigned index, piece;
	uint32_t generation;
};

/* Roots beyond the field's range share its last number: only ambiguous counters look at it. */
static uint64_t tag_root(void *context, unsigned root)
{
	const struct tagging *tagging = context;

	return object_encode_tag(
		(struct object_tag){.index = tagging->index,
				    .piece = tagging->piece,
				    .root = root < OBJECT_MAX_THREADS ? root : OBJECT_MAX_THREADS,
				    .generation = tagging->generation});
}

static struct perf_request request_of(const struct tl_event *event, unsigned piece)
{
	return (struct perf_request){.addr = event->pieces[piece].addr,
				     .length = event->pieces[piece].length,
				     .access = event->access,
				     .counter = event->counter,
				     .period = event->period,
				     .signal = true,
				     .kernel = event->flags & TL_INCLUDE_KERNEL,
				     .disabled =
					     !__atomic_load_n(&event->enabled, __ATOMIC_ACQUIRE)};
}

static struct tagging tagging_of(const struct tl_event *event, unsigned piece, uint32_t generation)
{
	return (struct tagging){(unsigned)(event - object_table), piece, generation};
}

static int open_piece(struct tl_event *event, unsigned piece, uint32_t generation)
{
	struct coverage_target target = arming_target(event);
	struct perf_request request = request_of(event, piece);
	struct tagging tagging = tagging_of(event, piece, generation);

	return coverage_open(&event->coverage[piece], &target, &request, tag_root, &tagging);
}

static void plan(struct tl_event *event, int fewest)
{
	event->piece_count = arming_is_region(event) ? 0 : 1;
	event->pieces[0] = (struct slot_piece){event->addr, 0};
	if (event->piece_count && event->access && !(event->access & TL_EXEC))
		event->piece_count = (unsigned)slots_plan(event->addr, (unsigned)event->length,
							  fewest, event->pieces);
}

static int open_pieces(struct tl_event *event, uint32_t generation)
{
	int err = 0;

	for (unsigned i = 0; i < event->piece_count && !err; i++)
		err = open_piece(event, i, generation);
	if (err)
		for (unsigned i = 0; i < event->piece_count; i++)
			coverage_close(&event->coverage[i]);
	return err;
}

/* ---- opening ---------------------------------------------------------------------------- */

static int adopt_spec(struct tl_event *event, const struct tl_spec *spec)
{
	event->addr = (uintptr_t)spec->addr;
	event->length = spec->access & TL_EXEC ? 1 : spec->len;
	event->access = spec->access;
	event->counter = spec->counter;
	event->period = spec->period;
	event->scope = spec->scope;
	event->flags = spec->flags;
	event->enabled = !(spec->flags & TL_DISABLED);
	event->limited = spec->limit != 0;
	event->remaining = spec->limit;
	event->hits = 0;
	event->signals = 0;
	event->silence_due = false;
	event->owner_pid = raw_getpid();
	event->thread = raw_gettid();
	memset(event->coverage, 0, sizeof(event->coverage));
	for (size_t i = 0; spec->scope == TL_THREADS && i < spec->ntids; i++) {
		int err = thread_set_add(&event->threads, spec->tids[i]);

		if (err)
			return err;
	}
	return 0;
}

static int open_slots(struct tl_event *event, uint32_t generation)
{
	int err;

	if (arming_is_region(event)) {
		err = region_install(&deliver_regions);
		return err || !event->enabled ? err : arming_on(event);
	}
	err = open_pieces(event, generation);
	if (err == -ENOSPC && event->piece_count > 1) {
		plan(event, 1);
		err = open_pieces(event, generation);
	}
	/* The kernel's words for a counter or breakpoint that this machine does not have. */
	return err == -ENOENT || err == -ENODEV ? -EOPNOTSUPP : err;
}

/* Undoes a failed opening. Hits that came meanwhile may still be in their handlers, so they are
 * waited for. */
static void abandon(struct tl_event *event)
{
	__atomic_fetch_add(&event->generation, 1, __ATOMIC_SEQ_CST);
	running_wait(event);
	object_release(event);
}

int tl_event_open(tl_event **event, const struct tl_spec *spec, tl_hit_fn *fn, void *arg)
{
	struct tl_spec known;
	struct tl_event *created;
	uint32_t generation;
	uint64_t mask;
	int err;

	if (!event || !fn)
		return -EINVAL;
	err = spec_check(spec, &known);
	if (err)
		return err;
	err = dispatch_install();
	if (err)
		return err;
	created = object_allocate();
	if (!created)
		return -ENFILE;
	err = adopt_spec(created, &known);
	if (err) {
		object_release(created);
		return err;
	}
	/* Everything a handler reads is set before the first kernel event exists: it is enabled
	 * from the start, so hits may come before this returns. */
	created->arg = arg;
	__atomic_store_n(&created->fn, fn, __ATOMIC_RELEASE);
	*event = created;
	generation = created->generation + 1;
	plan(created, 0);
	/* Locked until all events are open: a hit in a thread that is covered already may reach the
	 * limit, which silences the event when it is unlocked, or its callback may close the event,
	 * which waits for this lock. */
	mask = arming_lock_new(created);
	__atomic_store_n(&created->open, true, __ATOMIC_RELEASE);
	__atomic_store_n(&created->generation, generation, __ATOMIC_SEQ_CST);
	err = open_slots(created, generation);
	if (err)
		__atomic_store_n(&created->open, false, __ATOMIC_RELEASE);
	arming_unlock(created, mask);
	if (err) {
		abandon(created);
		*event = NULL;
	}
	return err;
}

/* ---- changing --------------------------------------------------------------------------- */

/* Locks an open event whose kernel events are this process's own: a forked child would switch its
 * parent's. */
static int lock_own(tl_event *event, uint64_t *mask)
{
	int err = arming_lock(event, mask);

	if (!err && !arming_is_allowed(event)) {
		arming_unlock(event, *mask);
		err = -EPERM;
	}
	return err;
}

int tl_event_enable(tl_event *event)
{
	uint64_t mask;
	int err = lock_own(event, &mask);

	if (err)
		return err;
	__atomic_store_n(&event->enabled, true, __ATOMIC_RELEASE);
	err = arming_on(event);
	arming_unlock(event, mask);
	return err;
}

int tl_event_disable(tl_event *event)
{
	uint64_t mask;
	int err = lock_own(event, &mask);

	if (err)
		return err;
	__atomic_store_n(&event->enabled, false, __ATOMIC_RELEASE);
	err = arming_off(event);
	arming_unlock(event, mask);
	return err;
}

int tl_event_rearm(tl_event *event, unsigned hits)
{
	uint64_t mask;
	int err;

	if (!hits)
		return -EINVAL;
	err = lock_own(event, &mask);
	if (err)
		return err;
	__atomic_store_n(&event->remaining, hits, __ATOMIC_SEQ_CST);
	__atomic_store_n(&event->limited, true, __ATOMIC_SEQ_CST);
	__atomic_store_n(&event->enabled, true, __ATOMIC_RELEASE);
	err = arming_on(event);
	arming_unlock(event, mask);
	return err;
}

uint64_t tl_event_hits(const tl_event *event)
{
	return event ? __atomic_load_n(&event->hits, __ATOMIC_RELAXED) : 0;
}

static int modify_pieces(struct tl_event *event, unsigned had, uint32_t generation)
{
	struct coverage_target target = arming_target(event);
	int err = 0;

	for (unsigned i = 0; i < event->piece_count && !err; i++) {
		struct perf_request request = request_of(event, i);
		struct tagging tagging = tagging_of(event, i, generation);

		if (i < had)
			err = coverage_modify(&event->coverage[i], &target, &request, tag_root,
					      &tagging);
		else
			err = open_piece(event, i, generation);
	}
	for (unsigned i = event->piece_count; !err && i < had; i++)
		coverage_close(&event->coverage[i]);
	return err;
}

/* Where the event was before a move, to go back to when the new place is refused. */
struct place {
	uintptr_t addr;
	size_t length;
	unsigned access, piece_count;
	struct slot_piece pieces[SLOTS_MAX_PIECES];
};

static struct place place_of(const struct tl_event *event)
{
	struct place place = {event->addr, event->length, event->access, event->piece_count, {{0}}};

	memcpy(place.pieces, event->pieces, sizeof(place.pieces));
	return place;
}

static void restore_place(struct tl_event *event, const struct place *place)
{
	event->addr = place->addr;
	event->length = place->length;
	event->access = place->access;
	event->piece_count = place->piece_count;
	memcpy(event->pieces, place->pieces, sizeof(event->pieces));
}

static int relocate(struct tl_event *event, uint32_t generation)
{
	struct place before = place_of(event);
	unsigned had = event->piece_count;
	int err;

	if (arming_is_region(event))
		return 0;
	plan(event, 0);
	if (event->piece_count > had)
		plan(event, 1);
	err = modify_pieces(event, had, generation);
	if (!err)
		return 0;
	for (unsigned i = had; i < event->piece_count; i++)
		coverage_close(&event->coverage[i]);
	restore_place(event, &before);
	return err;
}

/* Moves a region back to where it was, since its new place cannot be watched. */
static void return_to(struct tl_event *event, const struct place *before)
{
	uint32_t generation = event->generation + 2;

	__atomic_store_n(&event->generation, generation - 1, __ATOMIC_SEQ_CST);
	restore_place(event, before);
	__atomic_store_n(&event->generation, generation, __ATOMIC_SEQ_CST);
	arming_on(event);
}

/*
 * The generation turns even first: hits of the old place that are on their way are dropped as stale
 * from then on. At the end it turns odd, to the number that signals of the moved events carry.
 */
static int move_locked(struct tl_event *event, uintptr_t addr, size_t length, unsigned access)
{
	struct place before = place_of(event);
	uint32_t generation = event->generation + 2;
	int err, armed = 0;

	__atomic_store_n(&event->generation, generation - 1, __ATOMIC_SEQ_CST);
	arming_off(event);
	event->addr = addr;
	event->length = access & TL_EXEC ? 1 : length;
	event->access = access;
	err = relocate(event, generation);
	if (err) {
		restore_place(event, &before);
		modify_pieces(event, event->piece_count, generation);
	}
	__atomic_store_n(&event->generation, generation, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&event->enabled, __ATOMIC_ACQUIRE))
		armed = arming_on(event);
	if (armed && arming_is_region(event))
		return_to(event, &before);
	return err ? err : armed;
}

int tl_event_move(tl_event *event, const void *addr, size_t len, unsigned access)
{
	uint64_t mask;
	int err = lock_own(event, &mask);

	if (err)
		return err;
	err = spec_check_move(event, addr, len, access ? access : event->access);
	if (!err)
		err = move_locked(event, (uintptr_t)addr, len, access ? access : event->access);
	arming_unlock(event, mask);
	return err;
}

/* ---- closing ---------------------------------------------------------------------------- */

/* Counts accesses that made no signal of their own: the kernel counted them, and their signals were
 * merged into others. Where a counter cannot be read nothing is added. */
static void account_unseen(struct tl_event *event)
{
	uint64_t counted = 0, seen = __atomic_load_n(&event->signals, __ATOMIC_RELAXED);

	if (event->counter)
		return;
	for (unsigned i = 0; i < event->piece_count; i++)
		counted += coverage_count(&event->coverage[i]);
	if (counted > seen)
		counter_add(COUNTER_HITS_UNSEEN, counted - seen);
}

int tl_event_close(tl_event *event)
{
	uint64_t mask;
	int err = arming_lock(event, &mask);

	if (err)
		return err;
	__atomic_store_n(&event->open, false, __ATOMIC_RELEASE);
	__atomic_fetch_add(&event->generation, 1, __ATOMIC_SEQ_CST);
	if (arming_is_allowed(event)) {
		arming_off(event);
		account_unseen(event);
	}
	for (unsigned i = 0; i < event->piece_count; i++)
		coverage_close(&event->coverage[i]);
	arming_unlock(event, mask);
	/* Without the lock: the handler that this waits for may itself be waiting for the lock. */
	running_wait(event);
	object_release(event);
	return 0;
}
