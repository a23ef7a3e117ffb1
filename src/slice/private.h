/* SPDX-License-Identifier: Apache-2.0 */
/* What slices in both directions have in common. Not for other folders. */
#ifndef SLICE_PRIVATE_H
#define SLICE_PRIVATE_H

#include "slice/slice.h"

#define SLICE_NOWHERE UINT16_MAX
#define SLICE_ARGUMENTS 0x03c6u /* rdi, rsi, rdx, rcx, r8, r9 by number */

/* All instructions of the function, into the work area. 0, or -E2BIG. */
int slice_decode(const uint8_t *code, size_t length, uint64_t start, struct flow_slice_work *work);
/* Of the decoded function: what tables of jumps lead to (table.c). */
void slice_find_labels(struct flow_slice_work *work, uint64_t start);
/* And then: masks that registers hold become constants (constants.c). */
void slice_fold_constants(struct flow_slice_work *work, uint64_t start);
/* The instruction at `pc`, or SLICE_NOWHERE. */
static inline uint16_t slice_index(const struct flow_slice_work *work, uint64_t start, uint64_t pc)
{
	uint64_t offset = pc - start;

	return offset < FLOW_SLICE_CODE && work->at[offset] ? (uint16_t)(work->at[offset] - 1)
							    : SLICE_NOWHERE;
}

/* Enters the place at the instruction in the queue, unless it was there before, for the sake of
 * some of its register's bits (slice/bits.h). 0; -EINVAL: a register that is not followed; -ENOSPC.
 */
int slice_enter(struct flow_slice_work *work, uint16_t index, const struct insn_place *place,
		uint64_t bits);
static inline bool slice_is_call(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT;
}

static inline bool slice_falls_through(const struct insn *insn)
{
	if (insn->flow == INSN_FLOW_BRANCH)
		return insn->conditional;
	return insn->flow == INSN_FLOW_NEXT || slice_is_call(insn) ||
	       insn->flow == INSN_FLOW_SYSCALL;
}

/* Does a call leave the register as it was? */
bool slice_is_kept_by_calls(const struct insn_place *place);
/* A number from 0 to 63 for each register that is followed; -1: it is not. */
int slice_register(const struct insn_place *place);
/* Of a set of such numbers; 0: of a register that is not followed. */
static inline uint64_t slice_bit(const struct insn_place *place)
{
	int number = slice_register(place);

	return number < 0 ? 0 : 1ull << number;
}
/* Is the result, where it is one of the sources, the very same bytes? */
bool slice_is_copy(const struct insn_result *result);
/* Does it take one of its first two sources, or of each element? */
static inline bool slice_selects(const struct insn_result *result)
{
	return result->operation == INSN_SELECT || result->operation == INSN_BLEND;
}

/* disjoint.c. Is the sum one of numbers that have no bit in common? */
bool slice_is_disjoint(const struct flow_slice_work *work, uint16_t index,
		       const struct insn_result *result);
/* Was the key, of any meaning, entered in the work area before? It is from now on. */
bool slice_was_visited(struct flow_slice_work *work, uint64_t key);

/*
 * May the value that `held` (a bit for each register) holds before instruction `last` be one that
 * `load` has loaded in an earlier pass than its last before `last`? True, too, where the code is
 * too much to tell. Else work->changed tells what changes between the two.
 */
bool slice_outlives_load(struct flow_slice_work *work, uint64_t start, uint16_t load, uint16_t last,
			 uint64_t held);

/* again.c. Can control come from `last` to it again without passing any end? */
bool slice_runs_again(struct flow_slice_work *work, const struct flow_slice *slice, uint64_t start,
		      uint16_t last);

/*
 * With which values does what the end, a load, has loaded not go on, once the slice is complete?
 * `last`: the slice's instruction, or SLICE_NOWHERE.
 */
void slice_note_barred(const struct flow_slice_work *work, uint64_t start, struct flow_end *load,
		       uint16_t last);

/* General registers that hold something else behind the instruction, or may. */
uint16_t slice_changed_by(const struct insn_effect *effect);

/* carry.c. The registers that depend on what the instruction loads; behind it, on what those in
 * `held` held before. */
uint64_t slice_loaded_by(const struct insn_effect *effect);
uint64_t slice_behind(const struct insn_effect *effect, uint64_t held);

/* Where a value is to arrive: at an instruction, or at each return, in these registers; or by an
 * instruction in the memory that it stores to. */
struct slice_arrival {
	uint16_t index; /* SLICE_NOWHERE: each return */
	uint64_t wanted;
	bool stored;
	unsigned operand;
};

bool slice_is_there(const struct flow_slice_work *work, const struct slice_arrival *arrival,
		    uint16_t index);
/* What arrives there depends on these registers. */
bool slice_is_made_of(const struct flow_slice_work *work, const struct slice_arrival *arrival,
		      uint16_t index, uint64_t held);

/* gather.c. Sets the load's `byte_lost`, where it is so alone. work->changed: general registers
 * that change from it on until then. */
bool slice_gathers(struct flow_slice_work *work, uint64_t start, struct flow_end *load,
		   const struct slice_arrival *arrival);

/*
 * Does what instruction `load` has loaded, or its call has returned, arrive whatever way is taken,
 * also when it loads again before that? Not where the function can be left without.
 */
bool slice_arrives(struct flow_slice_work *work, uint64_t start, uint16_t load,
		   const struct slice_arrival *arrival);
/*
 * May an instruction that the slice went through, of which one takes one of two, have taken the one
 * that is not made of the end? Not where both are, as where a sign or a digit is made by a choice.
 * True, too, where the code is too much to tell.
 */
bool slice_is_one_of_two(struct flow_slice_work *work, uint64_t start, const struct flow_end *end);

#endif
