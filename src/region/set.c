/* SPDX-License-Identifier: Apache-2.0 */
#include "region/set.h"

#include <errno.h>

struct copy {
	size_t count;
	struct region_entry entry[REGION_MAX];
};

static struct copy copies[2];
static unsigned version;

static bool before(const struct region_entry *entry, uintptr_t first, uint16_t index)
{
	return entry->first < first || (entry->first == first && entry->index < index);
}

/* How many entries of the copy sort before (first, index). */
static size_t lower_bound(const struct copy *copy, size_t count, uintptr_t first, uint16_t index)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (before(&copy->entry[middle], first, index))
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

static bool search(const struct copy *copy, uintptr_t first, uintptr_t end,
		   const struct region_cursor *cursor, struct region_entry *entry, bool *last)
{
	size_t count = __atomic_load_n(&copy->count, __ATOMIC_RELAXED);
	size_t at = cursor->begun ? lower_bound(copy, count, cursor->first, cursor->index)
				  : lower_bound(copy, count, end, 0);

	while (at > 0 && copy->entry[at - 1].highest > first) {
		*entry = copy->entry[--at];
		*last = !at || copy->entry[at - 1].highest <= first;
		if (entry->end > first && entry->first < end)
			return true;
	}
	return false;
}

/* Torn entries are discarded: pairs with the release store in publish(). */
bool region_set_next(uintptr_t first, uintptr_t end, struct region_cursor *cursor,
		     struct region_entry *entry)
{
	unsigned seen;
	bool found, last = false;

	if (cursor->last)
		return false;
	do {
		seen = __atomic_load_n(&version, __ATOMIC_ACQUIRE);
		found = search(&copies[seen & 1], first, end, cursor, entry, &last);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&version, __ATOMIC_RELAXED) != seen);
	if (found)
		*cursor = (struct region_cursor){entry->first, entry->index, true, last};
	return found;
}

static struct copy *valid(void)
{
	return &copies[version & 1];
}

/* The copy that is written next. Readers who began two versions ago may still be reading it; they
 * see afterwards that the version has moved, and read again. */
static struct copy *other(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return &copies[(version + 1) & 1];
}

static void publish(struct copy *copy, size_t count)
{
	uintptr_t highest = 0;

	for (size_t i = 0; i < count; i++) {
		if (copy->entry[i].end > highest)
			highest = copy->entry[i].end;
		copy->entry[i].highest = highest;
	}
	__atomic_store_n(&copy->count, count, __ATOMIC_RELAXED);
	__atomic_store_n(&version, version + 1, __ATOMIC_SEQ_CST);
}

int region_set_insert(const struct region_entry *entry)
{
	const struct copy *from = valid();
	struct copy *to = other();
	size_t count = from->count;
	size_t at = lower_bound(from, count, entry->first, entry->index);

	if (count == REGION_MAX)
		return -ENFILE;
	for (size_t i = 0; i < at; i++)
		to->entry[i] = from->entry[i];
	to->entry[at] = *entry;
	for (size_t i = at; i < count; i++)
		to->entry[i + 1] = from->entry[i];
	publish(to, count + 1);
	return 0;
}

static size_t position(const struct copy *copy, unsigned index)
{
	size_t at = 0;

	while (at < copy->count && copy->entry[at].index != index)
		at++;
	return at;
}

bool region_set_find(unsigned index, struct region_entry *found)
{
	const struct copy *copy = valid();
	size_t at = position(copy, index);

	if (at == copy->count)
		return false;
	*found = copy->entry[at];
	return true;
}

void region_set_remove(unsigned index)
{
	const struct copy *from = valid();
	struct copy *to = other();
	size_t count = from->count, at = position(from, index);

	if (at == count)
		return;
	for (size_t i = 0; i < at; i++)
		to->entry[i] = from->entry[i];
	for (size_t i = at + 1; i < count; i++)
		to->entry[i - 1] = from->entry[i];
	publish(to, count - 1);
}

void region_set_silence(unsigned index)
{
	const struct copy *from = valid();
	struct copy *to = other();
	size_t count = from->count, at = position(from, index);

	if (at == count)
		return;
	for (size_t i = 0; i < count; i++)
		to->entry[i] = from->entry[i];
	to->entry[at].access = 0;
	publish(to, count);
}

size_t region_set_count(void)
{
	return __atomic_load_n(&copies[__atomic_load_n(&version, __ATOMIC_ACQUIRE) & 1].count,
			       __ATOMIC_RELAXED);
}
