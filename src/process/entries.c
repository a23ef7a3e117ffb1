/* SPDX-License-Identifier: Apache-2.0 */
#include "process/entries.h"

#include <errno.h>
#include <string.h>

#define PARTS 32	  /* functions and parts that one jumps to */
#define PART_MOST 0x4000u /* bytes of one; functions that are called last may be larger */

struct part {
	uint64_t start, end;
	bool entered_within; /* the function jumps into its midst */
};

struct search {
	struct space *space;
	uint64_t start, end; /* of the function */
	struct part part[PARTS];
	unsigned parts;
	struct insn_entries *entries;
};

typedef int jump_fn(struct search *search, const struct part *from, uint64_t target);

/* Calls `each` with the target of each direct jump in the code of `of`. */
static int each_jump(struct search *search, const struct part *of, jump_fn *each)
{
	static uint8_t code[PART_MOST]; /* one thread; large */
	size_t length = of->end - of->start;
	struct insn insn;
	int err = 0;

	if (length > sizeof(code))
		return -E2BIG;
	if (space_code(search->space, of->start, code, length) != length)
		return -ENODATA;
	for (size_t at = 0; at < length && !err; at += insn.length) {
		if (insn_decode(code + at, length - at, of->start + at, &insn))
			return -EILSEQ;
		if (insn.flow == INSN_FLOW_BRANCH)
			err = each(search, of, (uint64_t)insn.target);
	}
	return err;
}

static int note_part(struct search *search, const struct part *from, uint64_t target)
{
	struct part found = {.entered_within = false};

	if (target >= from->start && target < from->end)
		return 0;
	for (unsigned i = 0; i < search->parts; i++)
		if (target >= search->part[i].start && target < search->part[i].end) {
			search->part[i].entered_within |= target != search->part[i].start;
			return 0;
		}
	if (space_whole_function(search->space, target, &found.start, &found.end))
		return 0; /* the table of procedure linkages, mostly */
	if (search->parts == PARTS)
		return -E2BIG;
	found.entered_within = target != found.start;
	search->part[search->parts++] = found;
	return 0;
}

static int add_entry(struct insn_entries *entries, uint32_t at)
{
	for (unsigned i = 0; i < entries->count; i++)
		if (entries->at[i] == at)
			return 0;
	if (entries->count == INSN_ENTRIES)
		return -E2BIG;
	entries->at[entries->count++] = at;
	return 0;
}

/* A jump to the start alone is a call that does not return here, unless what makes it is a part
 * that is entered in its midst from here: then this is the part, or calls itself in that way. */
static int note_entry(struct search *search, const struct part *from, uint64_t target)
{
	if (target < search->start || target >= search->end ||
	    (target == search->start && !from->entered_within))
		return 0;
	return add_entry(search->entries, (uint32_t)(target - search->start));
}

static bool is_part_by_name(struct space *space, uint64_t start)
{
	const char *name = space_function_name(space, start);

	return name && strstr(name, ".cold");
}

int entries_find(struct space *space, uint64_t start, uint64_t end, struct insn_entries *entries)
{
	static struct search search; /* one thread; large */
	const struct part whole = {.start = start, .end = end};
	int err;

	*entries = (struct insn_entries){.count = 0};
	search = (struct search){.space = space, .start = start, .end = end, .entries = entries};
	if (is_part_by_name(space, start))
		return add_entry(entries, 0);
	err = each_jump(&search, &whole, note_part);
	for (unsigned i = 0; i < search.parts && !err; i++) {
		err = each_jump(&search, &search.part[i], note_entry);
		/* A function that is called last. */
		if (err == -E2BIG && !search.part[i].entered_within &&
		    search.part[i].end - search.part[i].start > PART_MOST)
			err = 0;
	}
	return err;
}
