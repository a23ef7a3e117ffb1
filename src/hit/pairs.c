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

/* Are the bytes that both accessed known, of each hold's beginning, and not the same? */
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

/* When the thread had last ended a hold of this watch. */
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
 * Was the second access made after the first's hold had begun? Either nobody could be trapped
 * there before, or its thread still was elsewhere in the watch, or memory changed meanwhile: by the
 * second itself, unless a third thread wrote in between, which would be a race as well. Behind its
 * hold the first's own thread may have changed it again.
 */
static bool order_is_certain(const struct slot *slot, const struct hit *first,
			     const struct hit *second)
{
	if (slot->armed_at >= first->entry || previous_exit(slot, second) >= first->entry)
		return true;
	return (second->access.access & TL_WRITE) && second->value_until &&
	       second->value_until < first->exit && bytes_changed(first, second);
}

/* Was a hit lost, or is there a thread that trips nothing? It may have seen what no hit tells of,
 * and have handed it on. Relaxed: who was not given a record counts it before it does anything
 * more, and what it did was seen by the thread whose record has been read since. */
static bool some_are_missing(const struct target *target, const struct slot *slot)
{
	return !slot->whole || slot->missed ||
	       atomic_load_explicit(&target->shared->dropped, memory_order_relaxed) !=
		       slot->dropped;
}

/*
 * May any thread have read what `writer` wrote, before `later` made its access? Its reading would
 * have been a hit as well; in a slot that watched writes alone, or did not cover all threads yet,
 * whoever reads unseen to reuse the memory writes to it first. The handlers of the two may begin in
 * another order than the accesses were made, so what counts is what came since the writer's last
 * hold. Who received a message has seen what it was sent from without a hit.
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

/* Of this pair: what another one of the read has in common with it may be used. */
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

/* A load that touched some of the watched bytes conflicts with a write of all of them, wherever it
 * began. */
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
