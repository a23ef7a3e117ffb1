/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .eh_frame_hdr (Linux Standard Base, "Exception Frames"):
 *
 *	version (1), encoding of: the pointer to .eh_frame, the count, the table
 *	pointer to .eh_frame
 *	count
 *	table: pairs of { start of the code, place of its entry }, ascending
 *
 * Every linker writes the table as four-byte offsets from the header. Without a table, or with
 * another kind, .eh_frame is searched from its beginning.
 */
#include "unwind/table.h"

#include <errno.h>

struct table {
	struct bytes bytes; /* at the first pair */
	uint64_t base;	    /* of the offsets */
	uint64_t count;
	uint64_t frames; /* address of .eh_frame */
	bool sorted;
};

#define PAIR 8u

static int read_table(const struct object *object, struct table *table)
{
	struct bytes bytes = object->section;
	uint8_t frames, count, pairs;

	bytes.at = object->exception_table - object->section.address;
	table->base = object->exception_table;
	if (bytes_unsigned(&bytes, 1) != 1)
		return -ENOENT;
	frames = (uint8_t)bytes_unsigned(&bytes, 1);
	count = (uint8_t)bytes_unsigned(&bytes, 1);
	pairs = (uint8_t)bytes_unsigned(&bytes, 1);
	table->frames = bytes_pointer(&bytes, frames, table->base);
	table->sorted = count != POINTER_OMITTED && pairs == POINTER_DATA_RELATIVE_SIGNED_4;
	table->count = table->sorted ? bytes_pointer(&bytes, count, table->base) : 0;
	if (bytes.failed)
		return -ENOENT;
	if (table->count > (bytes.length - bytes.at) / PAIR)
		table->count = (bytes.length - bytes.at) / PAIR;
	table->bytes = bytes;
	return 0;
}

static uint64_t pair_word(const struct table *table, uint64_t index, unsigned word)
{
	struct bytes bytes = table->bytes;

	bytes.at += index * PAIR + word * 4;
	return table->base + (uint64_t)bytes_signed(&bytes, 4);
}

/* Position in the section of the last entry that starts at or before pc. */
static int search_sorted(const struct table *table, uint64_t pc, size_t *position)
{
	uint64_t low = 0, high = table->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (pair_word(table, middle, 0) <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return -ENOENT;
	*position = pair_word(table, low - 1, 1) - table->bytes.address;
	return 0;
}

static bool covers(const struct cfi_entry *entry, uint64_t pc)
{
	return pc >= entry->start && pc < entry->end;
}

static int search_all(const struct object *object, const struct table *table, uint64_t pc,
		      struct cfi_entry *entry)
{
	size_t position = table->frames - object->section.address;

	do {
		int status = cfi_read_entry(&object->section, position, entry);

		if (status == 0 && covers(entry, pc))
			return 0;
		position = cfi_next_position(&object->section, position);
	} while (position);
	return -ENOENT;
}

int table_search(const struct object *object, uint64_t pc, struct cfi_entry *entry)
{
	struct table table;
	size_t position;

	if (read_table(object, &table))
		return -ENOENT;
	if (!table.sorted)
		return search_all(object, &table, pc, entry);
	if (search_sorted(&table, pc, &position) ||
	    cfi_read_entry(&object->section, position, entry))
		return -ENOENT;
	return covers(entry, pc) ? 0 : -ENOENT;
}

int table_find(uintptr_t pc, struct object *object, struct cfi_entry *entry)
{
	return object_find(pc, object) ? -ENOENT : table_search(object, pc, entry);
}
