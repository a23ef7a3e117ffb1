/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/gap.h"

#include "inject/status.h"
#include "record/injected.h"

#include <string.h>

#define GAP_LEAST (1ull << 32) /* bytes; a smaller one may be what the program leaves room in */
#define USER_END (1ull << 47)
#define TABLE_SPAN (1ull << 21) /* bytes that one page of a page table spans */

struct search {
	uint64_t image_size;
	uint64_t last;	      /* end of the mapping before */
	uint64_t largest;     /* of the pieces between mappings, in bytes … */
	uint64_t middle;      /* … and its middle; 0: none is large enough */
	uint64_t table_end;   /* of what the page table of the stack's end spans; 0: no stack yet */
	uint64_t above_stack; /* where the image has room in that; 0: nowhere */
};

static void note_piece(struct search *search, uint64_t start, uint64_t end)
{
	if (!start || end <= start || end - start <= search->largest)
		return;
	search->largest = end - start;
	search->middle = (start + search->largest / 2) & ~(TABLE_SPAN - 1);
}

/* The image stays a page apart from what lies beside it: nobody runs over from one to the other. */
static void note_above_stack(struct search *search, uint64_t start, uint64_t end)
{
	const uint64_t room = search->image_size + 2ull * INJECTED_PAGE;

	if (end > search->table_end)
		end = search->table_end;
	if (!search->above_stack && end > start && end - start >= room)
		search->above_stack = start + INJECTED_PAGE;
}

static int look_at(void *context, const struct mapping *mapping)
{
	struct search *search = context;
	const uint64_t end = mapping->start < USER_END ? mapping->start : USER_END - INJECTED_PAGE;

	if (mapping->end <= USER_END)
		note_piece(search, search->last, end);
	note_above_stack(search, search->last, end);
	if (strcmp(mapping->name, "[stack]") == 0)
		search->table_end = (mapping->end + TABLE_SPAN - 1) & ~(TABLE_SPAN - 1);
	search->last = mapping->end;
	return mapping->end > USER_END;
}

struct gap gap_find(pid_t pid, uint64_t image_size)
{
	struct search search = {.image_size = image_size, .largest = GAP_LEAST};
	struct gap gap = {0};

	if (mappings_read(pid, look_at, &search) < 0)
		return gap;
	/* Above the stack there may be no mapping that ends the search. */
	note_above_stack(&search, search.last, USER_END - INJECTED_PAGE);
	gap.area = search.middle;
	gap.image = search.above_stack;
	if (gap.image || !search.middle)
		return gap;
	gap.image = search.middle;
	gap.area = search.middle + image_size;
	return gap;
}
