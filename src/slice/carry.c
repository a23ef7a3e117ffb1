/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what is loaded once reach a store whatever way is taken, also when the load runs again
 * before that? So it is with a sum, and not where a register holds what was loaded last:
 *
 *	for (i = 0; i < n; i++) sum += *p++;
 *	stored = sum;
 *
 * Forwards from the load along every way, one at a time, with the registers that depend on the
 * value there: on none may it get lost before the store.
 *
 * On the same ways an instruction is met that takes one of two sources (cmov) of which one depends
 * on the value and the other does not: what is stored then need not be made of it.
 */
#include "slice/carry.h"

#include "slice/bytes.h"
#include "slice/code.h"

#include <string.h>

#define RAX 0
#define RCX 1
#define R11 11

/* Does the result depend on what the registers `held` hold, whichever source is taken? */
static bool depends(const struct insn_result *result, uint64_t held)
{
	bool of = false;

	if (result->operation == INSN_CONSTANT)
		return false;
	if (slice_selects(result))
		return held & slice_bit(&result->source[0]) && held & slice_bit(&result->source[1]);
	for (unsigned i = 0; i < result->source_count; i++)
		of |= held & slice_bit(&result->source[i]) &&
		      slice_bytes_made(result, i, UINT64_MAX);
	return of && (!result->conditional || held & slice_bit(&result->to));
}

uint64_t slice_behind(const struct insn_effect *effect, uint64_t held)
{
	uint64_t made = 0, killed = 0;

	if (slice_is_call(&effect->insn))
		return held & INSN_KEPT_BY_CALLS;
	if (effect->insn.flow == INSN_FLOW_SYSCALL)
		return held & ~(1ull << RAX | 1ull << RCX | 1ull << R11);
	if (effect->more)
		killed = effect->insn.written_registers | (uint64_t)effect->insn.written_vectors
								  << 16;
	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];

		if (depends(result, held))
			made |= slice_bit(&result->to);
		else
			killed |= slice_bit(&result->to);
	}
	return (held & ~killed) | made;
}

/* Control comes to instruction `index` with the value in registers `held`. False: the value is
 * lost, or there are more ways than there is room for. */
static bool come(struct flow_slice_work *work, unsigned *count, uint16_t index, uint64_t held)
{
	return held && slice_come(work, count, index, held);
}

/* Follows control from the instruction, with the value in `held` behind it. False: on some way the
 * value is lost or cannot be followed. */
static bool go_on(struct flow_slice_work *work, unsigned *count, uint64_t start, uint16_t index,
		  uint64_t held)
{
	const struct insn *insn = &work->effect[index].insn;
	bool with = insn->flow != INSN_FLOW_RETURN && insn->flow != INSN_FLOW_JUMP_INDIRECT;

	if (slice_falls_through(insn))
		with &= come(work, count, slice_index(work, start, work->pc[index] + insn->length),
			     held);
	if (insn->flow == INSN_FLOW_BRANCH)
		with &= come(work, count, slice_index(work, start, (uint64_t)insn->target), held);
	return with;
}

uint64_t slice_loaded_by(const struct insn_effect *effect)
{
	uint64_t held = 0;

	for (unsigned i = 0; i < effect->count; i++)
		for (unsigned j = 0; j < effect->result[i].source_count; j++)
			if (effect->result[i].source[j].kind == INSN_PLACE_MEMORY &&
			    effect->result[i].operation != INSN_CONSTANT &&
			    !effect->result[i].conditional)
				held |= slice_bit(&effect->result[i].to);
	return held;
}

static bool stores(const struct insn_effect *effect, unsigned operand, uint64_t held)
{
	for (unsigned i = 0; i < effect->count; i++)
		if (effect->result[i].to.kind == INSN_PLACE_MEMORY &&
		    effect->result[i].to.number == operand && !effect->result[i].conditional &&
		    depends(&effect->result[i], held))
			return true;
	return false;
}

bool slice_is_there(const struct flow_slice_work *work, const struct slice_arrival *arrival,
		    uint16_t index)
{
	return arrival->index == SLICE_NOWHERE ? work->effect[index].insn.flow == INSN_FLOW_RETURN
					       : index == arrival->index;
}

bool slice_is_made_of(const struct flow_slice_work *work, const struct slice_arrival *arrival,
		      uint16_t index, uint64_t held)
{
	return arrival->stored ? stores(&work->effect[index], arrival->operand, held)
			       : held & arrival->wanted;
}

bool slice_arrives(struct flow_slice_work *work, uint64_t start, uint16_t load,
		   const struct slice_arrival *arrival)
{
	const struct insn_effect *from = &work->effect[load];
	unsigned count = 0;
	bool reached = false;

	memset(work->visited, 0, sizeof(work->visited));
	if (load == arrival->index ||
	    !go_on(work, &count, start, load,
		   slice_is_call(&from->insn) ? 1ull << RAX : slice_loaded_by(from)))
		return false;
	for (unsigned i = 0; i < count; i++) {
		uint16_t index = work->pass[i].index;
		uint64_t held = work->pass[i].held;
		const struct insn_effect *effect = &work->effect[index];

		if (slice_is_there(work, arrival, index)) {
			if (!slice_is_made_of(work, arrival, index, held))
				return false;
			reached = true;
		} else if (!go_on(work, &count, start, index, slice_behind(effect, held))) {
			return false;
		}
	}
	return reached;
}

/* Does the instruction take one of two sources, of which just one depends on these registers? */
static bool takes_one(const struct insn_effect *effect, uint64_t held)
{
	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];

		if (slice_selects(result) && !(held & slice_bit(&result->source[0])) !=
						     !(held & slice_bit(&result->source[1])))
			return true;
	}
	return false;
}

/* Follows control wherever it may go from the instruction, also by tables of jumps. */
static void spread(struct flow_slice_work *work, unsigned *count, uint64_t start, uint16_t index,
		   uint64_t held)
{
	go_on(work, count, start, index, held);
	if (work->effect[index].insn.flow != INSN_FLOW_JUMP_INDIRECT)
		return;
	for (unsigned i = 0; i < work->count; i++)
		if (work->label[i])
			come(work, count, (uint16_t)i, held);
}

/* Begins at the end: behind its load or call, or at the function's start for an argument. */
static void set_out(struct flow_slice_work *work, unsigned *count, uint64_t start, uint16_t at,
		    const struct flow_end *end)
{
	if (end->kind == FLOW_END_ARGUMENT)
		come(work, count, 0, slice_bit(&end->place));
	else if (end->kind == FLOW_END_RETURN)
		spread(work, count, start, at, slice_bit(&end->place));
	else if (end->kind == FLOW_END_LOAD)
		spread(work, count, start, at, slice_loaded_by(&work->effect[at]));
}

bool slice_is_one_of_two(struct flow_slice_work *work, uint64_t start, const struct flow_end *end)
{
	uint16_t at = slice_index(work, start, end->pc);
	unsigned count = 0;

	if (at == SLICE_NOWHERE)
		return false;
	/* The load itself is a cmov from memory, which may keep the register's old value. */
	if (end->kind == FLOW_END_LOAD && work->select[at])
		return true;
	memset(work->visited, 0, sizeof(work->visited));
	set_out(work, &count, start, at, end);
	for (unsigned i = 0; i < count; i++) {
		uint16_t index = work->pass[i].index;
		uint64_t held = work->pass[i].held;

		if (work->select[index] && takes_one(&work->effect[index], held))
			return true;
		spread(work, &count, start, index, slice_behind(&work->effect[index], held));
	}
	return count == FLOW_SLICE_PASSES;
}
