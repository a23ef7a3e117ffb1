/* SPDX-License-Identifier: Apache-2.0 */
/* The decoded function in the work area: its instructions, the registers that are followed, and
 * what was looked for where. Slices in both directions share it; it is not for other folders. */
#ifndef SLICE_CODE_H
#define SLICE_CODE_H

#include "slice/slice.h"

#define SLICE_NOWHERE UINT16_MAX
#define SLICE_ARGUMENTS 0x03c6u /* rdi, rsi, rdx, rcx, r8, r9 by number */

/* Decodes all instructions of the function into the work area. 0, or -E2BIG. */
int slice_decode(const uint8_t *code, size_t length, uint64_t start, struct flow_slice_work *work);

/* The index of the instruction at `pc`, or SLICE_NOWHERE. */
static inline uint16_t slice_index(const struct flow_slice_work *work, uint64_t start, uint64_t pc)
{
	uint64_t offset = pc - start;

	return offset < FLOW_SLICE_CODE && work->at[offset] ? (uint16_t)(work->at[offset] - 1)
							    : SLICE_NOWHERE;
}

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

/* The number, from 0 to 63, of a register that is followed; -1: it is not followed. */
int slice_register(const struct insn_place *place);

/* The register as a set of one, with a bit for each such number; 0: it is not followed. */
static inline uint64_t slice_bit(const struct insn_place *place)
{
	int number = slice_register(place);

	return number < 0 ? 0 : 1ull << number;
}

/* Is the result, if it is made of one source, that source's very bytes? */
bool slice_is_copy(const struct insn_result *result);

/* Does the instruction take one of its first two sources, as a whole or for each element? */
static inline bool slice_selects(const struct insn_result *result)
{
	return result->operation == INSN_SELECT || result->operation == INSN_BLEND;
}

/* Puts into the queue that the place is looked for before the instruction, for the sake of some of
 * its register's bits (slice/bits.h), unless it was before. 0; -EINVAL: a register that is not
 * followed; -ENOSPC: the queue is full. */
int slice_enter(struct flow_slice_work *work, uint16_t index, const struct insn_place *place,
		uint64_t bits);

/* Was the key, whatever its caller means by it, asked for before in this work area? It counts as
 * asked for from now on. */
bool slice_was_visited(struct flow_slice_work *work, uint64_t key);

/* A key for slice_was_visited(): control is at `where`, with the value in registers `held`. */
static inline uint64_t slice_way_key(uint64_t where, uint64_t held)
{
	return (held * 0xd6e8feb86659fd93ull ^ held >> 29) + where;
}

/* Adds to work->pass, of which `*count` are used, that control comes to instruction `index` with
 * the value in registers `held`, unless it came so before. False: `index` is SLICE_NOWHERE, or
 * there is no room left. */
bool slice_come(struct flow_slice_work *work, unsigned *count, uint16_t index, uint64_t held);

#endif
