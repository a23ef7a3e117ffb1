/* SPDX-License-Identifier: Apache-2.0 */
#include "notice/allocations.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define RECORD_TRIES 10
#define RECORD_PAUSE 50 /* µs */

_Static_assert(offsetof(struct allocation_table, entry) == 0 &&
		       sizeof(struct allocation_entry) == 16,
	       "what is read is what was written");

static bool read_all(struct space *space, uint64_t address, void *to, size_t length)
{
	return space_read(space, address, to, length) == (ssize_t)length;
}

static void bound(struct allocation_event *event)
{
	if (event->frames > ALLOCATION_FRAMES)
		event->frames = ALLOCATION_FRAMES;
	event->thread[ALLOCATION_NAME - 1] = '\0';
}

/* Reads a record, and its entry before and afterwards: it must be the same block's, and unwritten
 * meanwhile. */
static bool read_record(struct space *space, uint64_t table, uint32_t place,
			const struct allocation_entry *entry, struct allocations_block *block)
{
	uint64_t entry_at =
		table + offsetof(struct allocation_table, entry) + place * sizeof(*entry);
	uint64_t record_at = table + offsetof(struct allocation_table, record) +
			     place * sizeof(struct allocation_record);
	struct allocation_record record;
	struct allocation_entry again;
	uint32_t sequence;

	if (!read_all(space, record_at, &record, sizeof(record)) || (record.sequence & 1) ||
	    !read_all(space, entry_at, &again, sizeof(again)) ||
	    !read_all(space, record_at + offsetof(struct allocation_record, sequence), &sequence,
		      sizeof(sequence)) ||
	    again.block != entry->block || sequence != record.sequence)
		return false;
	block->address = entry->block & ~(uint64_t)ALLOCATION_FREED;
	block->size = again.size;
	block->allocated = record.allocated;
	block->freed = record.freed;
	if (!(entry->block & ALLOCATION_FREED))
		block->freed.time = 0;
	else if (!block->freed.time)
		return false;
	bound(&block->allocated);
	bound(&block->freed);
	return true;
}

/* A block in use says more than one that was freed, and a later one more than an earlier. */
static bool is_better(const struct allocations_block *block, const struct allocations_block *than)
{
	if (!than->allocated.time || !block->freed.time != !than->freed.time)
		return !than->allocated.time || !block->freed.time;
	return block->allocated.time > than->allocated.time;
}

/* Reads a record, several times if need be: a thread may be noting just now that it frees the
 * block, which takes it some 20 us. */
static bool read_patiently(struct space *space, uint64_t table, uint32_t place,
			   struct allocation_entry *entry, struct allocations_block *block)
{
	uint64_t entry_at = table + place * sizeof(*entry);

	for (int i = 0; i < RECORD_TRIES; i++) {
		if (read_record(space, table, place, entry, block))
			return true;
		usleep(RECORD_PAUSE);
		if (!read_all(space, entry_at, entry, sizeof(*entry)))
			return false;
	}
	return false;
}

bool allocations_find(struct program *program, pid_t pid, uint64_t address,
		      struct allocations_block *block)
{
	static struct allocation_entry entries[ALLOCATION_ENTRIES]; /* one thread; large */
	struct target *target = target_find(program, pid);
	uint64_t table = target ? atomic_load(&target->shared->allocations) : 0;
	struct allocations_block found;

	memset(block, 0, sizeof(*block));
	if (!table || !read_all(target->space, table, entries, sizeof(entries)))
		return false;
	for (uint32_t i = 0; i < ALLOCATION_ENTRIES; i++) {
		uint64_t start = entries[i].block & ~(uint64_t)ALLOCATION_FREED;

		if (start && address >= start && address - start < entries[i].size &&
		    read_patiently(target->space, table, i, &entries[i], &found) &&
		    /* The entry may have been given to another block since it was compared. */
		    address - found.address < found.size && is_better(&found, block))
			*block = found;
	}
	return block->allocated.time;
}
