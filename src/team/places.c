/* SPDX-License-Identifier: Apache-2.0 */
#include "team/places.h"

#include <string.h>
#include <trapline/event.h>

struct places {
	struct team_place *place;
	unsigned count, most;
};

/* Adds the first of these bytes, as many as one slot can watch together. */
static void add(struct places *places, uint64_t address, uint64_t length)
{
	unsigned watched = 8;

	while (watched > length || address % watched)
		watched /= 2;
	for (unsigned i = 0; i < places->count; i++)
		if (places->place[i].address == address)
			return;
	if (places->count < places->most)
		places->place[places->count++] = (struct team_place){address, watched};
}

static void add_common(struct places *places, const struct ahead_access *a,
		       const struct ahead_access *b)
{
	uint64_t from = a->address > b->address ? a->address : b->address;
	uint64_t a_end = a->address + a->length, b_end = b->address + b->length;

	add(places, from, (a_end < b_end ? a_end : b_end) - from);
}

/* Was this address mapped after the map was read last? The heap of a program that has just begun
 * is. */
static bool is_new(struct space *space, uint64_t address)
{
	uint64_t start, end;
	char byte;

	return !space_mapping(space, address, &start, &end) &&
	       space_read(space, address, &byte, sizeof(byte)) == (ssize_t)sizeof(byte);
}

bool team_may_share(struct space *space, const struct ahead_access *access)
{
	return access->length && access->address >= 4096 && !(access->address >> 47) &&
	       (space_writable(space, access->address) || is_new(space, access->address));
}

void team_sift(struct space *space, uint64_t function, struct ahead_view *view)
{
	uint64_t start = 0, end = 0, kept = 0;

	space_mapping(space, function, &start, &end);
	for (unsigned i = 0; i < view->accesses; i++) {
		const struct ahead_access *access = &view->access[i];

		if (access->pc >= start && access->pc < end && team_may_share(space, access))
			view->access[kept++] = *access;
	}
	view->accesses = (unsigned)kept;
}

static bool shares_lock(const struct ahead_access *a, const struct ahead_access *b)
{
	for (unsigned i = 0; i < AHEAD_LOCKS; i++)
		for (unsigned j = 0; j < AHEAD_LOCKS; j++)
			if (a->lock[i] & ~AHEAD_SHARED &&
			    !(a->lock[i] & b->lock[j] & AHEAD_SHARED) &&
			    !((a->lock[i] ^ b->lock[j]) & ~AHEAD_SHARED))
				return true;
	return false;
}

static bool may_conflict(const struct ahead_access *a, const struct ahead_access *b)
{
	return ((a->access | b->access) & TL_WRITE) && !(a->access & b->access & TL_ATOMIC) &&
	       a->phase == b->phase && !shares_lock(a, b);
}

static bool overlap(const struct ahead_access *a, const struct ahead_access *b)
{
	return a->address < b->address + b->length && b->address < a->address + a->length;
}

/* `first`: an instruction's first access in the view. Returns the bytes from each of its accesses
 * to the next one; 0: these steps are not equal. */
static int64_t stride_of(const struct ahead_view *view, unsigned first)
{
	const struct ahead_access *access = &view->access[first];

	for (unsigned i = 0; i < first; i++)
		if (view->access[i].pc == access->pc)
			return 0;
	for (unsigned i = first + 1; i < view->accesses; i++)
		if (view->access[i].pc == access->pc)
			return (int64_t)(view->access[i].address - access->address);
	return 0;
}

/* The number of steps from one address to another, below zero if it lies behind; 0: the walk does
 * not reach it. */
static int64_t steps_to(uint64_t from, int64_t stride, uint64_t to)
{
	int64_t distance = (int64_t)(to - from);

	return stride && distance % stride == 0 ? distance / stride : 0;
}

/* The length of `walker`'s walk in steps, where the other thread makes the same walk from
 * elsewhere: both parts are taken to be of one size, so each is as long as the distance between
 * their beginnings. 0: the other thread makes no such walk. */
static int64_t length_of_walk(const struct ahead_view *other, const struct ahead_access *walker,
			      int64_t stride)
{
	for (unsigned i = 0; i < other->accesses; i++)
		if (other->access[i].pc == walker->pc) {
			int64_t steps = steps_to(walker->address, stride, other->access[i].address);

			return steps < 0 ? -steps : steps;
		}
	return 0;
}

static void add_end(const struct ahead_view *one, const struct ahead_view *other,
		    struct places *places)
{
	for (unsigned i = 0; i < one->accesses; i++) {
		const struct ahead_access *walker = &one->access[i];
		int64_t stride = stride_of(one, i), length;

		length = stride ? length_of_walk(other, walker, stride) : 0;
		for (unsigned j = 0; j < other->accesses && length; j++) {
			int64_t steps = steps_to(walker->address, stride, other->access[j].address);

			if (steps > 0 && steps < length && may_conflict(walker, &other->access[j]))
				add(places, other->access[j].address, other->access[j].length);
		}
	}
}

unsigned team_places(const struct ahead_view *one, const struct ahead_view *other,
		     struct team_place *list, unsigned most)
{
	struct places places = {list, 0, most};

	for (unsigned i = 0; i < one->accesses; i++)
		for (unsigned j = 0; j < other->accesses; j++)
			if (overlap(&one->access[i], &other->access[j]) &&
			    may_conflict(&one->access[i], &other->access[j]))
				add_common(&places, &one->access[i], &other->access[j]);
	add_end(one, other, &places);
	add_end(other, one, &places);
	return places.count;
}

unsigned team_writes(const struct ahead_view *view, struct team_place *list, unsigned most)
{
	struct places places = {list, 0, most};

	for (unsigned i = 0; i < view->accesses; i++)
		if ((view->access[i].access & TL_WRITE) && !(view->access[i].access & TL_ATOMIC))
			add(&places, view->access[i].address, view->access[i].length);
	return places.count;
}
