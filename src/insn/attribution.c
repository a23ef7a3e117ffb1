/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/attribution.h"

#include <errno.h>
#include <string.h>
#include <trapline/event.h>

/* A function larger than this is not walked: its instructions are guessed from nearby instead. */
#define FUNCTION_MAX ((uint64_t)4 << 20)

int insn_function(const struct insn_memory *memory, uint64_t pc, uint64_t *start, uint64_t *end)
{
	if (!memory->bounds || memory->bounds(memory->context, pc, start, end))
		return -ENOENT;
	if (*start > pc || *end <= pc || *end - *start > FUNCTION_MAX)
		return -ENOENT;
	return 0;
}

static unsigned access_by(const struct explanation *explanation)
{
	unsigned access = explanation->access;

	if (explanation->insn && explanation->insn->atomic &&
	    (access & (TL_READ | TL_WRITE)) == (TL_READ | TL_WRITE))
		access |= TL_ATOMIC;
	return access;
}

void insn_propose(struct attribution *attribution, const struct explanation *explanation)
{
	struct insn_access *best = attribution->best;

	if (explanation->rank == RANK_NONE)
		return;
	attribution->explanations++;
	if (explanation->rank <= attribution->best_rank)
		return;
	attribution->best_rank = explanation->rank;
	best->pc = explanation->pc;
	best->first = explanation->first;
	best->length = explanation->length;
	best->access = access_by(explanation);
	best->decoded = explanation->insn != NULL;
	if (explanation->insn)
		best->insn = *explanation->insn;
}

/* Two operands of one instruction matched (movs onto itself, call *mem over its own stack slot):
 * the access is both, told at the written one. */
static void merge_operand(struct explanation *explanation, enum explanation_rank rank,
			  unsigned access, uint64_t first, uint64_t length)
{
	if (rank > explanation->rank ||
	    (rank == explanation->rank && (access & TL_WRITE) && length)) {
		explanation->first = first;
		explanation->length = length;
	}
	if (rank >= explanation->rank)
		explanation->access |= access;
	if (rank > explanation->rank) {
		explanation->access = access;
		explanation->rank = rank;
	}
}

void insn_match(const struct attribution *attribution, const struct insn *insn,
		const struct insn_registers *registers, struct explanation *explanation)
{
	memset(explanation, 0, sizeof(*explanation));
	explanation->insn = insn;
	for (unsigned i = 0; i < insn->operand_count; i++) {
		unsigned access = insn->operand[i].access;
		enum insn_touch touch;
		uint64_t first, length;

		if (!(access & attribution->wanted))
			continue;
		touch = insn_operand_touch(insn, i, registers, attribution->watched,
					   attribution->watched_length, &first, &length);
		if (touch != INSN_TOUCH_NO)
			merge_operand(explanation, touch == INSN_TOUCH_YES ? RANK_YES : RANK_MAYBE,
				      access, first, length);
	}
}
