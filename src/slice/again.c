/* SPDX-License-Identifier: Apache-2.0 */
/* May a store run again without what it stores having been made anew? */
#include "slice/again.h"

#include "slice/code.h"

#include <string.h>

#define REACHED 1
#define STOPS 2

/* Notes that control comes to the instruction at `pc`. True: it was not noted before. */
static bool reach_next(struct flow_slice_work *work, uint64_t start, uint64_t pc)
{
	uint16_t index = slice_index(work, start, pc);

	if (index == SLICE_NOWHERE || work->reached[index])
		return false;
	work->reached[index] = REACHED;
	return true;
}

bool slice_runs_again(struct flow_slice_work *work, const struct flow_slice *slice, uint64_t start,
		      uint16_t last)
{
	bool changed = true, first = true;

	memset(work->reached, 0, work->count);
	for (unsigned i = 0; i < slice->ends; i++) {
		uint16_t index = slice_index(work, start, slice->end[i].pc);

		if (index != SLICE_NOWHERE && slice->end[i].kind != FLOW_END_ARGUMENT)
			work->reached[index] = STOPS;
	}
	if (work->reached[last] == STOPS)
		return false;
	for (; changed && !work->reached[last]; first = false) {
		changed = false;
		for (unsigned i = first ? last : 0; i < (first ? last + 1u : work->count); i++) {
			const struct insn *insn = &work->effect[i].insn;

			if (!first && work->reached[i] != REACHED)
				continue;
			if (slice_falls_through(insn))
				changed |= reach_next(work, start, work->pc[i] + insn->length);
			if (insn->flow == INSN_FLOW_BRANCH)
				changed |= reach_next(work, start, (uint64_t)insn->target);
		}
	}
	return work->reached[last];
}
