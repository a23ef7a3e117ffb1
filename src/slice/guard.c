/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a value that was loaded go on only where it is not zero?
 *
 *	if (known[i]) return known[i];		mov known(,%rdi,8),%rax; test %rax,%rax; jne 1f
 *
 * Straight behind its load, before anything branches, the register is compared with zero; and where
 * it is zero the slice looks for no register that the load, or what is behind it, has written: so
 * none of its ways brings the value from there.
 */
#include "slice/private.h"

/* `test %r,%r`, or `cmp $0,%r`, of at least so many bytes. */
static bool compares_with_zero(const struct insn_result *result, int number, unsigned length)
{
	const struct insn_place *one = &result->source[0], *other = &result->source[1];

	if (result->source_count != 2 || one->kind != INSN_PLACE_GENERAL || one->number != number ||
	    one->first || one->length < length)
		return false;
	if (other->kind == INSN_PLACE_CONSTANT)
		return result->operation == INSN_SUBTRACT && !result->constant;
	return result->operation == INSN_AND && other->kind == INSN_PLACE_GENERAL &&
	       other->number == number && !other->first && other->length == one->length;
}

/* What the flag says that tells zero from others, after the instruction. */
static void note_flag(const struct insn_effect *effect, int number, unsigned length, bool *told)
{
	for (unsigned i = 0; i < effect->count; i++)
		if (effect->result[i].to.kind == INSN_PLACE_FLAGS &&
		    effect->result[i].to.number & INSN_FLAG_ZERO)
			*told = compares_with_zero(&effect->result[i], number, length);
	if (effect->more)
		*told = false;
}

/* The branch behind the load that is taken by whether that was zero; else SLICE_NOWHERE. */
static uint16_t find_branch(const struct flow_slice_work *work, uint16_t load, uint16_t last)
{
	const struct insn *loaded = &work->effect[load].insn;
	bool told = false;

	if (!loaded->plain_move || loaded->loaded < 0 || loaded->operand_count != 1)
		return SLICE_NOWHERE;
	for (unsigned i = load + 1u; i < work->count && i != last; i++) {
		const struct insn *insn = &work->effect[i].insn;

		if (work->pc[i] != work->pc[i - 1] + work->effect[i - 1].insn.length)
			return SLICE_NOWHERE;
		if (insn->flow == INSN_FLOW_BRANCH && told)
			return (uint16_t)i;
		if (insn->flow != INSN_FLOW_NEXT || insn->written_registers >> loaded->loaded & 1)
			return SLICE_NOWHERE;
		note_flag(&work->effect[i], loaded->loaded, loaded->operand[0].size, &told);
	}
	return SLICE_NOWHERE;
}

/* Is a register looked for before instruction `zero` that was written from `load` to `branch`? */
static bool is_brought(const struct flow_slice_work *work, uint16_t load, uint16_t branch,
		       uint16_t zero)
{
	uint16_t general = 0, vectors = 0;

	for (unsigned i = load; i <= branch; i++) {
		general |= work->effect[i].insn.written_registers;
		vectors |= work->effect[i].insn.written_vectors;
	}
	for (unsigned i = 0; i < work->queued; i++) {
		const struct insn_place *place = &work->queue[i].place;

		if (work->queue[i].index != zero)
			continue;
		if (place->kind == INSN_PLACE_GENERAL ? general >> place->number & 1 : vectors)
			return true;
	}
	return false;
}

bool slice_is_guarded(const struct flow_slice_work *work, uint64_t start,
		      const struct flow_end *load, uint16_t last)
{
	uint16_t index = slice_index(work, start, load->pc), zero;
	const struct insn *insn;
	uint16_t branch;

	if (index == SLICE_NOWHERE || index == last)
		return false;
	branch = find_branch(work, index, last);
	if (branch == SLICE_NOWHERE || load->first ||
	    (load->length && load->length < work->effect[index].insn.operand[0].size))
		return false;
	insn = &work->effect[branch].insn;
	switch (insn->zero_branch) {
	case INSN_ZERO_BRANCH_IF:
		zero = slice_index(work, start, (uint64_t)insn->target);
		break;
	case INSN_ZERO_BRANCH_UNLESS:
		zero = slice_index(work, start, work->pc[branch] + insn->length);
		break;
	default:
		return false;
	}
	return zero != SLICE_NOWHERE && zero != last && !is_brought(work, index, branch, zero);
}
