/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watched ranges of this process, sorted, in a table that handlers read without a lock: two
 * copies, a version whose low bit says which is valid. A writer, under the regions' lock, fills the
 * other copy and steps the version; a reader looks again if the version has moved meanwhile.
 */
#ifndef REGION_SET_H
#define REGION_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGION_MAX 4096

struct region_entry {
	uintptr_t first;
	uintptr_t end;	   /* one past the last byte */
	uintptr_t highest; /* the largest end of this and all entries before it */
	uint32_t generation;
	uint16_t index; /* of the event */
	uint16_t access;
};

/* Where region_set_next() goes on; zero-initialised it begins. */
struct region_cursor {
	uintptr_t first;
	uint16_t index;
	bool begun;
	bool last; /* nothing below can overlap */
};

int region_set_insert(const struct region_entry *entry); /* 0, or -ENFILE when the table is full */
bool region_set_find(unsigned index, struct region_entry *found); /* false: not there */
void region_set_remove(unsigned index);
void region_set_silence(unsigned index); /* its entry stays, with no access asked for */
size_t region_set_count(void);

/* The next entry that overlaps [first, end), highest first; false when there is no other. Async-
 * signal-safe. Each entry that is in the set throughout the walk is returned exactly once. */
bool region_set_next(uintptr_t first, uintptr_t end, struct region_cursor *cursor,
		     struct region_entry *entry);

static inline bool region_set_overlaps(uintptr_t first, uintptr_t end)
{
	struct region_cursor cursor = {0};
	struct region_entry entry;

	return region_set_next(first, end, &cursor, &entry);
}

#endif
