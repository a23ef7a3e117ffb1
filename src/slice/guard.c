/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With which values does the code not go on that it has loaded?
 *
 *	if (known[i]) return known[i];		mov known(,%rdi,8),%rax; test %rax,%rax; jne 1f
 *	if (*at == '(') return nested();	movzbl (%rdx),%eax; cmp $40,%al; je 1f
 *
 * Behind the load, on the straight way of its code, the register is compared with a constant; and
 * where it is that one the slice looks for no register that the load, or what is behind it, has
 * written: so none of its ways brings the value from there. Several may follow each other.
 */
#include "slice/guard.h"

#include "slice/code.h"

/* The constant that the register was compared with last; `told`: the zero flag still says so. */
struct comparison {
	bool told;
	uint64_t constant;
};

/* Is it `test %r,%r` or `cmp $constant,%r` of at least `length` bytes? The constant must be a value
 * of `length` bytes, with or without a sign. */
static bool compares(const struct insn_result *result, int number, unsigned length,
		     uint64_t *constant)
{
	const struct insn_place *one = &result->source[0], *other = &result->source[1];
	uint64_t above = length < 8 ? result->constant >> 8 * length : 0;

	if (result->source_count != 2 || one->kind != INSN_PLACE_GENERAL || one->number != number ||
	    one->first || one->length < length)
		return false;
	if (other->kind == INSN_PLACE_CONSTANT) {
		*constant = result->constant;
		return result->operation == INSN_SUBTRACT &&
		       (!above || above == UINT64_MAX >> 8 * length);
	}
	*constant = 0;
	return result->operation == INSN_AND && other->kind == INSN_PLACE_GENERAL &&
	       other->number == number && !other->first && other->length == one->length;
}

/* Notes what the zero flag says of the register after the instruction. */
static void note_flag(const struct insn_effect *effect, int number, unsigned length,
		      struct comparison *comparison)
{
	for (unsigned i = 0; i < effect->count; i++)
		if (effect->result[i].to.kind == INSN_PLACE_FLAGS &&
		    effect->result[i].to.number & INSN_FLAG_ZERO)
			comparison->told =
				compares(&effect->result[i], number, length, &comparison->constant);
	if (effect->more)
		comparison->told = false;
}

/* Does the slice, before instruction `zero`, look for a register that was written anywhere from
 * `load` to `branch`? Then control may bring the value along from the branch. */
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

/* Where does control go from the branch if the register equals the constant? */
static uint16_t where_equal(const struct flow_slice_work *work, uint64_t start, uint16_t branch)
{
	const struct insn *insn = &work->effect[branch].insn;

	switch (insn->zero_branch) {
	case INSN_ZERO_BRANCH_IF:
		return slice_index(work, start, (uint64_t)insn->target);
	case INSN_ZERO_BRANCH_UNLESS:
		return slice_index(work, start, work->pc[branch] + insn->length);
	default:
		return SLICE_NOWHERE;
	}
}

/* Takes a branch by that comparison: notes the constant as barred if no register of the slice comes
 * that way. True: more comparisons of the register may follow behind the branch. */
static bool note_branch(const struct flow_slice_work *work, uint64_t start, struct flow_end *load,
			uint16_t index, uint16_t branch, uint16_t last, uint64_t constant)
{
	uint16_t equal = where_equal(work, start, branch);

	if (equal == SLICE_NOWHERE)
		return false;
	if (equal != last && !is_brought(work, index, branch, equal))
		load->barred[load->barred_count++] = constant;
	return work->effect[branch].insn.zero_branch == INSN_ZERO_BRANCH_IF;
}

static bool is_whole(const struct insn *insn, const struct flow_end *load)
{
	return insn->plain_move && insn->loaded >= 0 && insn->operand_count == 1 && !load->first &&
	       (!load->length || load->length >= insn->operand[0].size);
}

void slice_note_barred(const struct flow_slice_work *work, uint64_t start, struct flow_end *load,
		       uint16_t last)
{
	uint16_t index = slice_index(work, start, load->pc);
	struct comparison comparison = {.told = false};
	const struct insn *loaded;

	load->barred_count = 0;
	if (index == SLICE_NOWHERE || index == last || !is_whole(&work->effect[index].insn, load))
		return;
	loaded = &work->effect[index].insn;
	for (unsigned i = index + 1u;
	     i < work->count && i != last && load->barred_count < FLOW_BARRED; i++) {
		const struct insn *insn = &work->effect[i].insn;

		if (work->pc[i] != work->pc[i - 1] + work->effect[i - 1].insn.length)
			return;
		if (insn->flow == INSN_FLOW_BRANCH && comparison.told) {
			if (!note_branch(work, start, load, index, (uint16_t)i, last,
					 comparison.constant))
				return;
			continue;
		}
		if (insn->flow != INSN_FLOW_NEXT || insn->written_registers >> loaded->loaded & 1)
			return;
		note_flag(&work->effect[i], loaded->loaded, loaded->operand[0].size, &comparison);
	}
}
