/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction before a place. Code whose instructions differ in length can only be read
 * forwards: exactly from a function's start, or by trying where an instruction could have begun.
 */
#include <errno.h>
#include <string.h>

#include "insn/length.h"
#include "insn/previous.h"
#include "insn/walk.h"

int insn_previous_read(const struct insn_memory *memory, uint64_t start, uint64_t pc,
		       uint64_t *previous_pc, struct insn *previous, bool *entered)
{
	struct insn_walk walk;
	uint64_t last = start, target;
	unsigned targets = 0; /* bit n: some jump leads to pc - n */
	size_t available;

	if (start >= pc)
		return -ENOENT;
	insn_walk_begin(&walk, memory, start, pc);
	while (walk.at < pc) {
		int length = insn_walk_step(&walk);
		const uint8_t *end = insn_walk_bytes(&walk, 0, &available);

		if (length <= 0)
			return -ENOENT;
		last = walk.at - (unsigned)length;
		if (insn_arch.jump_target(end - length, (unsigned)length, last, &target) &&
		    pc - target <= INSN_MAX_LENGTH)
			targets |= 1u << (pc - target);
	}
	*previous_pc = last;
	*entered = targets & ((1u << (pc - last)) - 2);
	return insn_fetch(memory, last, pc, previous) ? -ENOENT : 0;
}

int insn_previous(const uint8_t *code, size_t available, uint64_t start, uint64_t pc,
		  uint64_t *previous_pc, struct insn *previous)
{
	size_t end = (size_t)(pc - start);
	size_t at = 0, last = 0;

	if (start >= pc || pc - start > available)
		return -ENOENT;
	while (at < end) {
		int length = insn_length(code + at, end - at);

		if (length <= 0)
			return -ENOENT;
		last = at;
		at += (size_t)length;
	}
	*previous_pc = start + last;
	return insn_decode(code + last, end - last, start + last, previous) ? -ENOENT : 0;
}

int insn_previous_candidates(const uint8_t *before, size_t available, uint64_t pc,
			     struct insn *candidates, size_t max)
{
	size_t longest = available < INSN_MAX_LENGTH ? available : INSN_MAX_LENGTH;
	const uint8_t *end = before + available;
	size_t found = 0;

	for (size_t length = longest; length && found < max; length--)
		if (insn_length(end - length, length) == (int)length &&
		    !insn_decode(end - length, length, pc - length, &candidates[found]))
			found++;
	return (int)found;
}

size_t insn_read_before(const struct insn_memory *memory, uint64_t pc, uint8_t *bytes,
			size_t length)
{
	size_t in_page = (size_t)(pc & 4095);

	if (!memory->read(memory->context, pc - length, bytes, length))
		return length;
	if (!in_page || in_page >= length ||
	    memory->read(memory->context, pc - in_page, bytes + length - in_page, in_page))
		return 0;
	return in_page;
}

void insn_previous_votes(const uint8_t *before, size_t available,
			 uint8_t votes[INSN_MAX_LENGTH + 1])
{
	uint8_t last[INSN_VOTE_BYTES]; /* length of the last instruction when begun there; 0: misses
					*/

	memset(votes, 0, INSN_MAX_LENGTH + 1);
	for (size_t at = available; at-- > 0;) {
		int length = insn_length(before + at, available - at);

		last[at] = 0;
		if (length <= 0 || at + (size_t)length > available)
			continue;
		last[at] = at + (size_t)length == available ? (uint8_t)length
							    : last[at + (size_t)length];
		votes[last[at]]++;
	}
	votes[0] = 0;
}
