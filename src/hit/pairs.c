/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which hits of one watch prove a race.
 *
 * A thread does nothing between its access and the end of its hold, so it is "at" its access from
 * some moment not later than the handler's entry until not earlier than the handler's exit. If for
 * two threads max(entry) < min(exit), both were at their accesses at one moment: no later
 * operation of either can have ordered them. That the access itself releases another thread is for
 * race/rules.c to exclude. Both hits carry the same generation, hence the same address in the
 * same address space.
 */
#include "hit/collect.h"

#include <stdatomic.h>
#include <string.h>

bool hits_conflict(const struct hit *a, const struct hit *b)
{
	const struct tl_access *x = &a->access, *y = &b->access;

	if (x->identity == y->identity || !((x->access | y->access) & TL_WRITE))
		return false;
	return x->address < y->address + y->length && y->address < x->address + x->length;
}

static bool overlap(const struct hit *a, const struct hit *b)
{
	uint64_t entry = a->entry > b->entry ? a->entry : b->entry;
	uint64_t exit = a->exit < b->exit ? a->exit : b->exit;

	return entry < exit;
}

/* Are the bytes that both accessed known as they were at the beginning of each hold, and did they
 * differ? */
static bool bytes_changed(const struct hit *first, const struct hit *second)
{
	const struct tl_access *x = &first->access, *y = &second->access;
	uint64_t begin = x->address > y->address ? x->address : y->address;
	uint64_t x_end = x->address + x->length, y_end = y->address + y->length;
	uint64_t end = x_end < y_end ? x_end : y_end;
	uint64_t base = first->value_address;

	if (base != second->value_address || begin < base)
		return false;
	if (end > base + first->value_length)
		end = base + first->value_length;
	if (end > base + second->value_length)
		end = base + second->value_length;
	return begin < end && memcmp(first->value + (begin - base), second->value + (begin - base),
				     end - begin) != 0;
}

/* When the thread's hold before this one, in the same watch, ended; 0: there was none. */
static uint64_t previous_exit(const struct slot *slot, const struct hit *hit)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < slot->hits; i++) {
		const struct hit *other = slot->hit[i];

		if (other->access.identity == hit->access.identity && other->exit &&
		    other->exit < hit->entry && other->exit > last)
			last = other->exit;
	}
	return last;
}

/*
 * Is it certain that the second access was made after the first's hold had begun? It is in three
 * cases. The slot was armed only then, so that nobody could have been trapped before. The second
 * thread was still held at another hit of this watch. Or the bytes changed between the beginnings
 * of the two holds: then the second access has changed them, or a third thread has, which is a race
 * as well. The last holds only up to the end of the first's hold, after which its own thread may
 * change them.
 */
static bool order_is_certain(const struct slot *slot, const struct hit *first,
			     const struct hit *second)
{
	if (slot->armed_at >= first->entry || previous_exit(slot, second) >= first->entry)
		return true;
	return (second->access.access & TL_WRITE) && second->value_until &&
	       second->value_until < first->exit && bytes_changed(first, second);
}

/* Was a hit lost, or is there a thread that trips no watch? It may have read the value unseen and
 * have ordered the two accesses by what it did then. Relaxed is enough: a thread that got no record
 * counts that before it does anything more, and for its deed to matter the thread whose record we
 * have read must have seen it. */
static bool some_are_missing(const struct target *target, const struct slot *slot)
{
	return !slot->whole || slot->missed ||
	       atomic_load_explicit(&target->shared->dropped, memory_order_relaxed) !=
		       slot->dropped;
}

/*
 * May any thread have read what `writer` wrote before `later` made its access? Then that reading
 * may order the two. A read is a hit, too, where the slot watches reads and covers all threads;
 * where it does not, a thread that reads unseen in order to reuse the memory writes to it before it
 * hands it on, and that write is a hit. Handlers may begin in another order than the accesses were
 * made, so every hit counts that came since the writer's last hold. Who receives a message has seen
 * what was sent without a hit at the sender's memory.
 */
static bool may_be_seen(const struct target *target, const struct slot *slot,
			const struct hit *writer, const struct hit *later)
{
	uint64_t since = previous_exit(slot, writer);

	if ((writer->access.traits & TL_TRAIT_SENT) || some_are_missing(target, slot))
		return true;
	if ((later->access.access & TL_WRITE) &&
	    (!(slot->watch.access & TL_READ) || writer->entry < slot->covered_at))
		return true;
	for (unsigned i = 0; i < slot->hits; i++) {
		const struct hit *other = slot->hit[i];

		if (other != later && other->access.identity != writer->access.identity &&
		    other->entry > since && other->entry < later->entry)
			return true;
	}
	return false;
}

/* For this pair alone: in another pair with the same read other bytes may be common to both, and
 * those may be used. */
static void note_discarded(const struct target *target, struct hit *read, const struct hit *write)
{
	read->access.traits &= ~TL_TRAIT_DISCARDED;
	if (discard_is(target->space, read, write))
		read->access.traits |= TL_TRAIT_DISCARDED;
}

static bool covers_watch(const struct slot *slot, const struct tl_access *access)
{
	const struct tl_watch *watch = &slot->watch;

	return !(access->access & TL_GUESSED) && access->address <= watch->address &&
	       access->address + access->length >= watch->address + watch->length;
}

/* A load of which it is certain that it touched some watched byte, but not which, conflicts with a
 * write of all of them. */
static void note_placed(const struct slot *slot, struct hit *read, const struct hit *write)
{
	if (!(read->access.traits & TL_TRAIT_UNPLACED))
		return;
	read->access.access |= TL_GUESSED;
	if (covers_watch(slot, &write->access))
		read->access.access &= ~TL_GUESSED;
}

static void note_class(const struct target *target, const struct slot *slot, struct hit *write)
{
	write->access.traits &= ~TL_TRAIT_CLASS_KEPT;
	if (class_is_kept(target, slot, write))
		write->access.traits |= TL_TRAIT_CLASS_KEPT;
}

static void tell(const struct hit_events *events, struct target *target, struct slot *slot,
		 struct hit *a, struct hit *b)
{
	struct tl_pair pair = {.size = sizeof(pair)};

	if (b->entry < a->entry) {
		struct hit *later = a;

		a = b;
		b = later;
	}
	pair.first = &a->access;
	pair.second = &b->access;
	pair.changed = update_is_lost(target->space, a, b);
	if (pair.changed && update_is_unoptimised(target->space, a))
		a->access.traits |= TL_TRAIT_UNOPTIMISED;
	note_placed(slot, a, b);
	note_placed(slot, b, a);
	note_discarded(target, a, b);
	note_discarded(target, b, a);
	note_class(target, slot, a);
	note_class(target, slot, b);
	pair.first_seen = may_be_seen(target, slot, a, b);
	pair.second_seen = !order_is_certain(slot, a, b) && may_be_seen(target, slot, b, a);
	count_one(target->program, COUNT_PAIRS);
	events->pair(target, slot, &pair);
}

void pairs_complete(const struct hit_events *events, struct target *target, struct slot *slot,
		    struct hit *hit)
{
	if (!hit->usable)
		return;
	for (unsigned i = 0; i < slot->hits; i++) {
		struct hit *other = slot->hit[i];

		if (other != hit && other->usable && other->exit && hits_conflict(hit, other) &&
		    overlap(hit, other))
			tell(events, target, slot, hit, other);
	}
}
