/* SPDX-License-Identifier: Apache-2.0 */
/* A placed watch's window and hits are bounded, and so is what an address that is hit all the time
 * costs. */
#include "placed/placed.h"

#include "notice/notice.h"
#include "base/clock.h"
#include "hit/records.h"
#include "placed/deaf.h"
#include "record/held.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NO_BOUND UINT32_MAX /* hits of a watch that stays whatever it costs */
#define LAST_RECORDS (5 * MILLISECOND)

static struct slot *slot_of(struct target *target, unsigned index)
{
	return &target->slot[target->slots + index];
}

unsigned placed_slots(struct program *program, pid_t pid)
{
	const struct target *target = target_find(program, pid);

	return target ? target->placed : 0;
}

static bool is_valid(const struct tl_watch *watch)
{
	unsigned data = TL_READ | TL_WRITE;

	if (!watch->cookie || !watch->address)
		return false;
	if (watch->access == TL_EXEC)
		return true;
	return (watch->access == TL_WRITE || watch->access == data) && watch->length &&
	       watch->length <= 8 && !(watch->length & (watch->length - 1)) &&
	       !(watch->address % watch->length);
}

static struct slot *find(struct target *target, unsigned owner, uint64_t cookie)
{
	for (unsigned i = 0; i < target->placed; i++) {
		struct slot *slot = slot_of(target, i);

		if (slot->owner == owner && slot->watch.cookie == cookie)
			return slot;
	}
	return NULL;
}

/* A free slot. The one whose hit is being told is taken last: if the next watch needs it, its
 * thread goes on. */
static struct slot *take_free(struct program *program, struct target *target)
{
	struct slot *told = NULL;

	for (unsigned i = 0; i < target->placed; i++) {
		struct slot *slot = slot_of(target, i);

		if (!slot->owner && slot != program->placed->telling)
			return slot;
		if (!slot->owner)
			told = slot;
	}
	if (told) {
		program->placed->telling = NULL;
		slot_release(target, told);
	}
	return told;
}

static struct tl_watch bounded(const struct tl_watch *watch)
{
	struct tl_watch bounded = *watch;

	if (watch->urgent && !watch->hits && !watch->window)
		bounded.hits = NO_BOUND;
	else if (!bounded.hits || bounded.hits > TL_HITS_MAX)
		bounded.hits = TL_HITS_MAX;
	if (bounded.access == TL_EXEC)
		bounded.length = sizeof(long); /* perf_event_open(2) */
	bounded.widen = false;
	return bounded;
}

int placed_arm(struct program *program, unsigned owner, const struct tl_watch *watch)
{
	struct target *target = target_find(program, watch->pid);
	struct tl_watch wanted = bounded(watch);
	struct thread_rate thread = {.tid = watch->tid};
	struct slot *slot;
	int err;

	if (!is_valid(watch))
		return -EINVAL;
	if (!target || target->observed)
		return -ESRCH;
	if ((clock_now() < program->placed->budget->paused_until && !watch->urgent) ||
	    target->debugged)
		return -EAGAIN;
	if (find(target, owner, watch->cookie))
		return -EEXIST;
	slot = take_free(program, target);
	if (!slot)
		return -EBUSY;
	slot->index = (unsigned)(slot - target->slot);
	slot->owner = owner;
	err = watch->tid ? slot_arm_in(target, slot, &wanted, &thread)
			 : slot_arm(target, slot, &wanted);
	if (!watch->window)
		slot->deadline = UINT64_MAX;
	if (err)
		slot->owner = 0;
	return err;
}

static bool is_told(const struct area_hit *record, const void *told)
{
	return record->serial == ((const struct area_hit *)told)->serial;
}

/* Is the thread of the hit that is being told held? Its record is found again by process and
 * number. */
bool placed_holds(const struct program *program)
{
	const struct area_hit *told = &program->placed->hits->copy;

	if (!program->placed->telling || told->flags & (AREA_HIT_UNHELD | AREA_HIT_LATE))
		return false;
	return area_holds(program->area, told->process, is_told, told);
}

bool placed_awaits(const struct program *program)
{
	const struct area_hit *told = &program->placed->hits->copy;

	return area_holds(program->area, told->process, is_told, told);
}

/* Has every thread had the event since the watch began? Threads that are created later have it if
 * their creators do. A hit that was admitted and not told yet may be earlier than the one that is
 * being told. */
bool placed_is_unbroken(const struct program *program, unsigned owner, pid_t pid, uint64_t cookie)
{
	struct target *target = target_find(program, pid);
	const struct slot *slot = target ? find(target, owner, cookie) : NULL;

	return slot && slot->armed && slot->whole && !slot->coverage.ambiguous &&
	       atomic_load(&target->shared->dropped) == slot->dropped &&
	       atomic_load(&target->shared->slot[slot->index].hits) == slot->seen;
}

/* Hits that have not been told. The event of a placed watch is opened anew each time, so its count
 * begins with the watch. */
uint64_t placed_untold(const struct program *program, unsigned owner, pid_t pid, uint64_t cookie)
{
	struct target *target = target_find(program, pid);
	const struct slot *slot = target ? find(target, owner, cookie) : NULL;
	uint64_t count;

	if (!slot || !slot->armed || !slot->transient ||
	    atomic_load(&target->shared->guard.changes) != slot->changes)
		return UINT64_MAX;
	count = coverage_count(&slot->coverage);
	return count < slot->seen ? UINT64_MAX : count - slot->seen;
}

/* Takes the watch away. The thread whose hit is being told stays held until that is done, watched
 * or not. */
static void take_away(struct target *target, struct slot *slot)
{
	if (slot == target->program->placed->telling)
		slot_silence(target, slot);
	else
		slot_disarm(target, slot);
	slot->owner = 0;
}

void placed_disarm(struct program *program, unsigned owner, uint64_t cookie)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = program->target[i];
		struct slot *slot = target ? find(target, owner, cookie) : NULL;

		if (slot)
			take_away(target, slot);
	}
}

static void note_identity(struct slot *slot, uint64_t identity)
{
	for (unsigned i = 0; i < slot->identities; i++)
		if (slot->identity[i] == identity)
			return;
	if (slot->identities < sizeof(slot->identity) / sizeof(slot->identity[0]))
		slot->identity[slot->identities++] = identity;
}

/* Tells a hit whose instruction is not known: what was watched is. */
static void tell_what_is_known(const struct slot *slot, const struct area_hit *record,
			       struct tl_access *access)
{
	access->pc = record->registers.pc;
	access->address = slot->watch.address;
	access->length = slot->watch.length;
	access->access = TL_GUESSED | (slot->watch.access & TL_READ ? 0 : TL_WRITE);
	if (record->flags & AREA_HIT_LATE)
		access->access |= TL_LATE;
}

static void understand(struct target *target, struct slot *slot, const struct area_hit *record,
		       struct hit *hit)
{
	bool understood;

	/* A library may have been loaded since the map was read, and this may be its only
	 * access. */
	space_learn(target->space, record->registers.pc);
	understood = hit_attribute(target, slot, record, hit);
	if (slot->watch.access & TL_EXEC) {
		hit->access.pc = hit->access.address = record->registers.pc;
		hit->access.length = 0;
		hit->access.access = TL_EXEC;
		hit->access.before = true;
	} else if (record->flags & AREA_HIT_LATE || (!understood && !hit->beside)) {
		tell_what_is_known(slot, record, &hit->access);
	}
}

/* Notes what stood there when the thread had come to its handler. */
static void note_watched(const struct slot *slot, struct hit *hit)
{
	const struct tl_watch *watch = &slot->watch;
	uint64_t offset = watch->address - hit->value_address;

	if (watch->access & TL_EXEC || watch->length > sizeof(hit->access.watched_value) ||
	    offset > hit->value_length || watch->length > hit->value_length - offset)
		return;
	hit->access.watched_address = watch->address;
	hit->access.watched_length = watch->length;
	memcpy(&hit->access.watched_value, hit->value + offset, watch->length);
}

/* The slot whose watch was hit; NULL: the watch has ended, or there never was such a watch. */
static struct slot *find_hit(struct program *program, const struct area_hit *record)
{
	struct target *target = program->target[record->process];
	struct slot *slot = &target->slot[record->slot];

	/* A slot whose watch has ended has the generation after that of its hits. */
	uint32_t generation = slot->armed ? slot->generation : slot->generation - 1;

	if (slot->owner && generation == record->generation)
		return slot;
	count_one(program, COUNT_HITS_STALE);
	return NULL;
}

static bool is_hit(struct program *program, const struct area_hit *record)
{
	const struct target *target =
		record->process < AREA_PROCESSES ? program->target[record->process] : NULL;

	return target && record->slot >= target->slots &&
	       record->slot < target->slots + target->placed;
}

static void tell(struct program *program, const struct area_hit *record)
{
	struct target *target;
	struct slot *slot;
	struct hit *hit;
	bool lost;

	count_one(program, COUNT_HITS);
	/* The program may have written anything into the record. */
	if (!is_hit(program, record)) {
		count_one(program, COUNT_HITS_STRANGE);
		return;
	}
	target = program->target[record->process];
	slot = find_hit(program, record);
	if (!slot)
		return;
	lost = record->lost != target->told_lost || record->flags & AREA_HIT_LOSS;
	hit = calloc(1, sizeof(*hit));
	if (!hit) {
		count_one(program, COUNT_HITS_DROPPED);
		target->told_lost = UINT64_MAX;
		return;
	}
	slot->seen++;
	note_identity(slot, record->identity);
	understand(target, slot, record, hit);
	hit->access.cookie = slot->watch.cookie;
	hit->access.after_loss = lost;
	hit->access.others_ended = placed_is_deaf(program, slot, record);
	note_watched(slot, hit);
	program->placed->telling = slot;
	if (!hit->beside || record->flags & AREA_HIT_LATE) {
		target->told_lost = record->lost;
		program->placed->events->hit(program, slot->owner, &hit->access);
	}
	hit_free(hit);
	/* Taken back whether or not the tool has taken the watch away meanwhile. */
	if (program->placed->telling)
		slot_release(target, slot);
	program->placed->telling = NULL;
}

static bool is_record(struct program *program, const struct area_hit *record)
{
	return (record->flags & AREA_HIT_NOTICE) || is_hit(program, record);
}

static void tell_either(struct program *program, const struct area_hit *record)
{
	if (!(record->flags & AREA_HIT_NOTICE))
		tell(program, record);
	else if (record->process < AREA_PROCESSES && program->target[record->process])
		notice_tell(program->target[record->process], record);
	else
		count_one(program, COUNT_HITS_STRANGE);
}

static void answer(struct program *program, const struct area_hit *record)
{
	if (record->flags & AREA_HIT_NOTICE)
		notice_answer(program, record->process);
}

void placed_collect(struct program *program)
{
	static const struct records_reader reader = {
		.wanted = is_record, .tell = tell_either, .taken = answer};

	if (program->options.placed || program->options.guard)
		records_collect(program->placed->hits, &reader);
}

static uint32_t admitted(const struct target *target, const struct slot *slot)
{
	uint32_t hits = atomic_load(&target->shared->slot[slot->index].hits);

	return hits < slot->watch.hits ? hits : slot->watch.hits;
}

/* Does the watch cost much though the budget is spent? One that is not hit costs nothing and may
 * stay, except in threads that sleep and wake all the time: the slot is loaded and unloaded each
 * time. */
static bool is_dear(const struct target *target, const struct slot *slot)
{
	if (slot->watch.hits == NO_BOUND)
		return false;
	return slot->seen || (armed_is_dear(target) && !slot->only && !slot->watch.urgent);
}

static bool is_over(const struct target *target, const struct slot *slot, uint64_t now)
{
	return now >= slot->deadline || target->debugged ||
	       admitted(target, slot) == slot->watch.hits ||
	       (is_dear(target, slot) && now < target->program->placed->budget->paused_until);
}

static void finish(struct program *program, struct target *target, struct slot *slot)
{
	struct tl_watch watch = slot->watch;
	unsigned owner = slot->owner;

	take_away(target, slot);
	slot_release(target, slot);
	program->placed->events->over(program, owner, &watch, slot->seen, slot->identities);
}

/* Ends the slot's watch if it is over. A thread that was admitted may not have written its record
 * yet: it is waited for, shortly. */
static void run(struct program *program, struct target *target, struct slot *slot, uint64_t now)
{
	if (slot->armed && is_over(target, slot, now)) {
		slot_silence(target, slot);
		slot->deadline = now + LAST_RECORDS;
	}
	if (!slot->armed && (now >= slot->deadline || slot->seen >= admitted(target, slot)))
		finish(program, target, slot);
}

void placed_run(struct program *program)
{
	uint64_t now = clock_now();

	for (unsigned i = 0; program->options.placed && i < AREA_PROCESSES; i++)
		for (unsigned j = 0; program->target[i] && j < program->target[i]->placed; j++) {
			struct slot *slot = slot_of(program->target[i], j);

			if (slot->owner)
				run(program, program->target[i], slot, now);
		}
}

uint64_t placed_next(const struct program *program)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; program->options.placed && i < AREA_PROCESSES; i++)
		for (unsigned j = 0; program->target[i] && j < program->target[i]->placed; j++) {
			const struct slot *slot = slot_of(program->target[i], j);

			if (slot->owner && slot->deadline < next)
				next = slot->deadline;
		}
	return next;
}

void placed_end(struct target *target)
{
	for (unsigned i = 0; i < target->placed; i++)
		if (slot_of(target, i)->owner)
			take_away(target, slot_of(target, i));
}
