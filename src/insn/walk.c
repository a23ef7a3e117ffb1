/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/walk.h"

#include <errno.h>
#include <string.h>

#include "insn/length.h"

#define PAGE_MASK ((uint64_t)4095)

void insn_walk_begin(struct insn_walk *walk, const struct insn_memory *memory, uint64_t start,
		     uint64_t limit)
{
	walk->memory = memory;
	walk->at = start;
	walk->limit = limit;
	walk->window_start = start;
	walk->window_length = 0;
}

/* Fill the window from walk->at on. A read that would cross into an unreadable page is repeated up
 * to that page only. */
static void refill(struct insn_walk *walk)
{
	uint64_t left = walk->limit - walk->at;
	size_t length = left < INSN_WINDOW ? (size_t)left : INSN_WINDOW;
	size_t in_page = (size_t)(PAGE_MASK + 1 - (walk->at & PAGE_MASK));

	walk->window_start = walk->at;
	walk->window_length = 0;
	if (!length)
		return;
	if (!walk->memory->read(walk->memory->context, walk->at, walk->window, length))
		walk->window_length = (uint32_t)length;
	else if (in_page < length &&
		 !walk->memory->read(walk->memory->context, walk->at, walk->window, in_page))
		walk->window_length = (uint32_t)in_page;
}

const uint8_t *insn_walk_bytes(struct insn_walk *walk, size_t wanted, size_t *available)
{
	uint64_t offset = walk->at - walk->window_start;
	uint64_t left = walk->limit - walk->at;

	if (wanted > left)
		wanted = (size_t)left;
	if (offset > walk->window_length || walk->window_length - offset < wanted) {
		refill(walk);
		offset = 0;
	}
	*available = walk->window_length - (size_t)offset;
	return walk->window + offset;
}

int insn_walk_step(struct insn_walk *walk)
{
	size_t available;
	const uint8_t *bytes = insn_walk_bytes(walk, INSN_MAX_LENGTH, &available);
	int length = available ? insn_length(bytes, available) : -ENODATA;

	if (length > 0)
		walk->at += (uint64_t)length;
	return length;
}

/* Frame: no window, 15 bytes only. */
int insn_fetch(const struct insn_memory *memory, uint64_t pc, uint64_t limit, struct insn *insn)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	uint64_t left = limit - pc;
	size_t length = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
	size_t in_page = (size_t)(PAGE_MASK + 1 - (pc & PAGE_MASK));

	if (!length)
		return -ENODATA;
	if (memory->read(memory->context, pc, bytes, length)) {
		if (in_page >= length || memory->read(memory->context, pc, bytes, in_page))
			return -ENODATA;
		length = in_page;
	}
	return insn_decode(bytes, length, pc, insn);
}
