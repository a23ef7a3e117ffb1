/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/standpoint.h"

#include <string.h>

bool flow_registers_at(const struct flow_standpoint *from, struct insn_registers *registers,
		       uint16_t *known)
{
	const struct flow_store *store = from->store;

	memset(registers, 0, sizeof(*registers));
	registers->fs_base = store->fs_base;
	if (from->gone || from->frame >= FLOW_FRAMES)
		return false;
	if (from->frame == 0) {
		memcpy(registers->general, store->general, sizeof(registers->general));
		*known = 0xffff;
		return true;
	}
	if (from->frame >= store->frames)
		return false;
	memcpy(registers->general, store->frame[from->frame].general, sizeof(registers->general));
	*known = store->frame[from->frame].known;
	return true;
}

uint64_t flow_own_function(struct flow_tree *tree, const struct flow_standpoint *from)
{
	const struct flow_store *store = from->store;
	uint64_t start, end, pc = from->frame ? store->frame[from->frame].pc - 1 : store->pc;

	if (from->gone)
		return from->function;
	return tree->services->function(tree->host, store->pid, pc, &start, &end) ? 0 : start;
}

bool flow_step_out(const struct flow_standpoint *from, struct flow_standpoint *caller)
{
	const struct flow_store *store = from->store;

	*caller = *from;
	caller->nest++;
	if (from->gone && from->callers) {
		caller->gone = from->caller[0].gone;
		caller->jumped = from->caller[0].jumped;
		caller->function = from->caller[0].function;
		caller->context = from->caller[0].context;
		caller->returned = !caller->gone;
		caller->callers--;
		memmove(caller->caller, from->caller + 1,
			caller->callers * sizeof(caller->caller[0]));
		return true;
	}
	caller->frame++;
	caller->gone = caller->jumped = caller->returned = false;
	caller->context = caller->frame + 1 < store->frames ? store->frame[caller->frame + 1].pc
							    : 0;
	return caller->frame < store->frames;
}

struct flow_standpoint flow_step_in(struct flow_tree *tree, const struct flow_standpoint *from,
				    uint64_t function, uint64_t context, bool jump)
{
	struct flow_standpoint callee = *from;

	callee.gone = true;
	callee.returned = false;
	callee.nest++;
	callee.context = context;
	callee.function = function;
	if (jump)
		return callee;
	callee.jumped = false;
	memmove(callee.caller + 1, from->caller, (FLOW_CALLERS - 1) * sizeof(callee.caller[0]));
	callee.caller[0] = (struct flow_caller){.gone = from->gone,
						.jumped = from->jumped,
						.function = flow_own_function(tree, from),
						.context = from->context};
	callee.callers++;
	return callee;
}
