/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of jumps: what a `switch` leads to. A label whose code is come to from the one before it,
 * too, is told from other instructions by its table alone.
 *
 * A table is any memory that the function names as one would be named, and that holds places in the
 * function: distances of 4 bytes from the table (position-independent code), or addresses of 8
 * bytes. What follows a table may look like more of it, which adds ways that nobody goes. Accepted
 * losses: a table whose address another function has handed down; what a function has of labels
 * beyond ENTRIES_ALL, so that no code costs more to look at than it is worth.
 */
#include "slice/table.h"

#include "slice/code.h"

#include <string.h>

#define ENTRIES_MAX 512		      /* entries of one table that are looked at */
#define ENTRIES_ALL (4 * ENTRIES_MAX) /* entries of all tables of a function */
#define TABLES 16		      /* tables of a function that are remembered as read */
#define PORTION 256u		      /* bytes that are read at once */

static bool has_indirect_jump(const struct flow_slice_work *work)
{
	for (unsigned i = 0; i < work->count; i++)
		if (work->effect[i].insn.flow == INSN_FLOW_JUMP_INDIRECT)
			return true;
	return false;
}

/* Marks the instruction as a label. False: it is no place in the function, so the table has
 * ended. */
static bool add_label(struct flow_slice_work *work, uint64_t start, uint64_t target)
{
	uint16_t index = slice_index(work, start, target);

	if (index == SLICE_NOWHERE)
		return false;
	work->label[index] = 1;
	return true;
}

/* The effort that remains for one function: code may name more tables than any `switch` has. */
struct tables {
	struct flow_slice_work *work;
	uint64_t start;
	uint64_t seen[TABLES]; /* the tables that were named last */
	unsigned count;
	unsigned left; /* entries that may still be looked at */
};

static bool was_seen(struct tables *tables, uint64_t table)
{
	unsigned most = tables->count < TABLES ? tables->count : TABLES;

	for (unsigned i = 0; i < most; i++)
		if (tables->seen[i] == table)
			return true;
	tables->seen[tables->count++ % TABLES] = table;
	return false;
}

/* Reads an entry of `size` bytes. Entries are read in portions, or one by one where a portion
 * cannot be read whole. */
static bool read_entry(const struct tables *tables, uint64_t table, unsigned index, size_t size,
		       uint8_t portion[PORTION], uint64_t *entry)
{
	const struct flow_slice_work *work = tables->work;
	unsigned within = (unsigned)(index * size % PORTION);

	if (!within && !work->read(work->context, table + index * size, portion, PORTION))
		return false;
	*entry = 0;
	memcpy(entry, portion + within, size);
	return true;
}

static bool read_alone(const struct tables *tables, uint64_t table, unsigned index, size_t size,
		       uint64_t *entry)
{
	*entry = 0;
	return tables->work->read(tables->work->context, table + index * size, entry, size);
}

static void read_table(struct tables *tables, uint64_t table, size_t size)
{
	uint8_t portion[PORTION];
	bool whole = true;
	uint64_t entry;

	for (unsigned i = 0; i < ENTRIES_MAX && tables->left; i++, tables->left--) {
		whole = whole && read_entry(tables, table, i, size, portion, &entry);
		if (!whole && !read_alone(tables, table, i, size, &entry))
			return;
		if (size == sizeof(int32_t))
			entry = table + (uint64_t)(int64_t)(int32_t)(uint32_t)entry;
		if (!add_label(tables->work, tables->start, entry))
			return;
	}
}

static void read_named(struct tables *tables, uint64_t table)
{
	if (was_seen(tables, table))
		return;
	read_table(tables, table, sizeof(int32_t));
	read_table(tables, table, sizeof(uint64_t));
}

void slice_find_labels(struct flow_slice_work *work, uint64_t start)
{
	struct tables tables = {.work = work, .start = start, .left = ENTRIES_ALL};

	memset(work->label, 0, work->count);
	if (!work->read || !has_indirect_jump(work))
		return;
	for (unsigned i = 0; i < work->count && tables.left; i++) {
		const struct insn *insn = &work->effect[i].insn;

		if (insn->address_taken)
			read_named(&tables, insn->address_taken);
		for (unsigned j = 0; j < insn->operand_count; j++) {
			const struct insn_operand *operand = &insn->operand[j];

			if (operand->base < 0 && operand->index >= 0 && operand->scale == 8 &&
			    !operand->segment)
				read_named(&tables, (uint64_t)operand->displacement);
		}
	}
}
