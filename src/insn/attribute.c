/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who made a data watchpoint fire. Where the trap comes before the access, pc says it. Where it
 * comes after it, pc is where the thread went next. Explanations, each proposed only if registers
 * and memory allow it:
 *   - the instruction that ends at pc (or a system call there),
 *   - an unfinished rep string instruction at pc,
 *   - a call, jump or return that went to pc through memory (transfer.c).
 * Frames: the largest are insn_decode's (1.3 KiB) and insn_attribute's (1 KiB with what GCC
 * inlines). The whole depth, Zydis included, was measured at 4.0 KiB; following the exits of a
 * function about 1 KiB more. Lazy binding of Zydis' symbols would add 2 KiB, and a lock: link with
 * -z now.
 */
#include <string.h>
#include <trapline/event.h>

#include "insn/attribution.h"
#include "insn/previous.h"
#include "insn/transfer.h"
#include "insn/walk.h"

/* What the kernel did for a system call shows in no register: a slot that sees reads too cannot
 * tell which it was. */
static void consider_system_call(struct attribution *attribution)
{
	struct explanation explanation = {
		.rank = RANK_KERNEL,
		.pc = attribution->previous_pc,
		.insn = &attribution->previous,
		.access = (attribution->wanted & (TL_READ | TL_WRITE)) | TL_KERNEL,
		.first = attribution->watched,
		.length = attribution->watched_length,
	};

	if (!(attribution->wanted & TL_KERNEL))
		return;
	if (attribution->wanted & TL_READ)
		attribution->uncertain = true;
	insn_propose(attribution, &explanation);
}

static void consider_previous(struct attribution *attribution)
{
	struct explanation explanation;

	if (!attribution->has_previous)
		return;
	if (attribution->previous.flow == INSN_FLOW_SYSCALL)
		consider_system_call(attribution);
	if (attribution->previous.flow != INSN_FLOW_NEXT)
		return;
	insn_match(attribution, &attribution->previous, attribution->after, &explanation);
	explanation.pc = attribution->previous_pc;
	insn_propose(attribution, &explanation);
	/* The instruction that ran began in its middle: the same one without LOCK, or another. */
	if (explanation.rank != RANK_NONE && attribution->previous_entered)
		attribution->uncertain = true;
}

/* Trapped between two iterations of a string instruction: pc is the instruction itself. */
static void consider_unfinished_repeat(struct attribution *attribution)
{
	uint64_t pc = attribution->after->pc;
	struct explanation explanation;
	struct insn_walk walk;
	struct insn insn;
	const uint8_t *bytes;
	size_t available;

	if (insn_arch.repeat_count < 0 || !attribution->after->general[insn_arch.repeat_count])
		return;
	insn_walk_begin(&walk, attribution->memory, pc, pc + INSN_MAX_LENGTH);
	bytes = insn_walk_bytes(&walk, INSN_MAX_LENGTH, &available);
	if (!insn_arch.begins_repeat(bytes, available) ||
	    insn_decode(bytes, available, pc, &insn) || !insn.repeated)
		return;
	insn_match(attribution, &insn, attribution->after, &explanation);
	explanation.pc = pc;
	insn_propose(attribution, &explanation);
}

/* No function start to decode from: of the instructions that could end at pc and whose operands fit
 * the most voted, or the longest of equals, since a prefix belongs to what follows it. Always a
 * guess. */
static void consider_nearby(struct attribution *attribution)
{
	uint64_t pc = attribution->after->pc;
	uint8_t bytes[INSN_VOTE_BYTES];
	uint8_t votes[INSN_MAX_LENGTH + 1];
	size_t available = insn_read_before(attribution->memory, pc, bytes, sizeof(bytes));
	const uint8_t *end = bytes + sizeof(bytes);
	struct explanation explanation, chosen = {0};
	struct insn insn;
	unsigned most = 0, length_chosen = 0;

	insn_previous_votes(end - available, available, votes);
	for (unsigned length = 1; length <= INSN_MAX_LENGTH; length++) {
		if (!votes[length] || insn_decode(end - length, length, pc - length, &insn))
			continue;
		if (insn.flow != INSN_FLOW_NEXT)
			continue;
		insn_match(attribution, &insn, attribution->after, &explanation);
		if (explanation.rank == RANK_NONE || explanation.rank < chosen.rank ||
		    (explanation.rank == chosen.rank && votes[length] < most))
			continue;
		chosen = explanation;
		most = votes[length];
		length_chosen = length;
	}
	if (!length_chosen ||
	    insn_decode(end - length_chosen, length_chosen, pc - length_chosen, &insn))
		return;
	chosen.insn = &insn;
	chosen.pc = pc - length_chosen;
	attribution->uncertain = true;
	insn_propose(attribution, &chosen);
}

/* The instruction that ends at pc, where function bounds make it certain: in the same function, or
 * at pc's function's start in the one that ends there (a split function, or code that falls
 * through). */
static void find_previous(struct attribution *attribution)
{
	uint64_t pc = attribution->after->pc, start, end;

	attribution->bounded =
		!insn_function(attribution->memory, pc, &attribution->start, &attribution->end);
	start = attribution->start;
	if (!attribution->bounded || start == pc) {
		if (insn_function(attribution->memory, pc - 1, &start, &end) || end != pc)
			return;
		if (!attribution->bounded)
			attribution->start = start;
	}
	attribution->has_previous =
		!insn_previous_read(attribution->memory, start, pc, &attribution->previous_pc,
				    &attribution->previous, &attribution->previous_entered);
}

/* Bytes of the value a load left in a register, compared with memory now. */
static bool loaded_from(const struct attribution *attribution, uint64_t address, unsigned size)
{
	uint64_t value = attribution->after->general[attribution->best->insn.loaded];
	uint8_t bytes[sizeof(value)];

	return !attribution->memory->read(attribution->memory->context, address, bytes, size) &&
	       !memcmp(bytes, &value, size);
}

/*
 * The instruction overwrote its own address (mov (%rax),%rax). It touched a watched byte, so its
 * first byte is one of a few; the value it loaded may tell which. Otherwise an aligned one is
 * likely, of those whose value fits the first, and the answer a guess.
 */
static void settle_address(struct attribution *attribution, unsigned size)
{
	struct insn_access *best = attribution->best;
	uint64_t lowest = attribution->watched - size + 1;
	unsigned count = size + (unsigned)attribution->watched_length - 1, matches = 0;
	uint64_t match = 0, aligned = 0;

	best->first = attribution->watched & ~(uint64_t)(size - 1);
	best->length = size;
	if (count == 1)
		return;
	if (best->insn.loaded >= 0 && size <= sizeof(uint64_t))
		for (unsigned i = 0; i < count; i++)
			if (loaded_from(attribution, lowest + i, size)) {
				match = lowest + i;
				matches++;
				if (!aligned && match % size == 0)
					aligned = match;
			}
	if (matches == 1)
		best->first = match;
	else if (aligned)
		best->first = aligned;
	attribution->unplaced = matches != 1;
}

static void settle_unknown_address(struct attribution *attribution)
{
	struct insn_access *best = attribution->best;

	if (best->length || !best->decoded)
		return;
	for (unsigned i = 0; i < best->insn.operand_count; i++) {
		unsigned size = best->insn.operand[i].size;

		if (!(best->insn.operand[i].access & attribution->wanted))
			continue;
		if (size && !(size & (size - 1)) && size <= 64) {
			settle_address(attribution, size);
			return;
		}
	}
	best->first = attribution->watched;
	best->length = attribution->watched_length;
	attribution->uncertain = true;
}

/* Nothing explains the trap. The nearest thing to an answer: the instruction before pc. */
static void settle_unexplained(struct attribution *attribution)
{
	struct insn_access *best = attribution->best;

	attribution->uncertain = true;
	best->pc = attribution->after->pc;
	if (attribution->has_previous) {
		best->pc = attribution->previous_pc;
		best->insn = attribution->previous;
		best->decoded = true;
	}
}

/*
 * Some processors trip over elements that are masked out (agent/opmask.h): nothing that is watched
 * was touched then. What the instruction did touch is told, so that the caller sees it lies
 * elsewhere; where that is nothing the trap stays unexplained.
 */
static void consider_masked_out(struct attribution *attribution)
{
	const struct insn *insn = &attribution->previous;
	struct explanation explanation = {
		.rank = RANK_YES, .pc = attribution->previous_pc, .insn = insn};

	if (!attribution->has_previous || attribution->previous_entered)
		return;
	for (unsigned i = 0; i < insn->operand_count; i++) {
		uint64_t first, length;

		explanation.access = insn->operand[i].access;
		if (!insn->operand[i].masked || !(explanation.access & attribution->wanted) ||
		    insn_operand_touch(insn, i, attribution->after, attribution->watched,
				       attribution->watched_length, &first, &length) ||
		    !insn_overlap(first, length, attribution->watched,
				  attribution->watched_length) ||
		    insn_operand_before(insn, i, attribution->after, &explanation.first,
					&explanation.length) ||
		    !explanation.length ||
		    insn_overlap(explanation.first, explanation.length, attribution->watched,
				 attribution->watched_length))
			continue;
		insn_propose(attribution, &explanation);
		return;
	}
}

/* pc is the instruction that is about to access: its operands are as registers say. */
static void attribute_at_pc(struct attribution *attribution)
{
	uint64_t pc = attribution->after->pc;
	struct explanation explanation;
	struct insn insn;

	if (insn_fetch(attribution->memory, pc, pc + INSN_MAX_LENGTH, &insn)) {
		settle_unexplained(attribution);
		return;
	}
	insn_match(attribution, &insn, attribution->after, &explanation);
	explanation.pc = pc;
	insn_propose(attribution, &explanation);
	if (!attribution->explanations)
		settle_unexplained(attribution);
}

static void attribute_before_pc(struct attribution *attribution)
{
	find_previous(attribution);
	consider_previous(attribution);
	consider_unfinished_repeat(attribution);
	if (insn_arch.calls_push)
		insn_consider_transfers(attribution);
	if (!attribution->has_previous) {
		consider_nearby(attribution);
		/* Only a function's start is known to have nothing before it that leads there. */
		attribution->uncertain |= !attribution->bounded ||
					  attribution->start != attribution->after->pc;
	}
	if (!attribution->explanations)
		consider_masked_out(attribution);
	if (!attribution->explanations)
		settle_unexplained(attribution);
	else
		settle_unknown_address(attribution);
}

void insn_attribute(const struct insn_registers *after, uint64_t watched, uint64_t watched_length,
		    unsigned wanted, const struct insn_memory *memory, struct insn_access *result)
{
	struct attribution attribution = {
		.after = after,
		.memory = memory,
		.watched = watched,
		.watched_length = watched_length,
		.wanted = wanted,
		.best = result,
	};

	memset(result, 0, sizeof(*result));
	result->first = watched;
	result->length = watched_length;
	result->access = wanted & (TL_READ | TL_WRITE | TL_KERNEL);
	if (insn_arch.traps_after)
		attribute_before_pc(&attribution);
	else
		attribute_at_pc(&attribution);
	result->explained = attribution.explanations > 0;
	result->unplaced = attribution.explanations == 1 && !attribution.uncertain &&
			   attribution.unplaced;
	if (attribution.explanations != 1 || attribution.uncertain || attribution.unplaced)
		result->access |= TL_GUESSED;
}
