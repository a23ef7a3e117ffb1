/* SPDX-License-Identifier: Apache-2.0 */
/* What slices in both directions have in common. Not for other folders. */
#ifndef FLOW_SLICE_PRIVATE_H
#define FLOW_SLICE_PRIVATE_H

#include "flow/slice.h"

#define SLICE_NOWHERE UINT16_MAX
#define SLICE_ARGUMENTS 0x03c6u /* rdi, rsi, rdx, rcx, r8, r9 by number */

/* All instructions of the function, into the work area. 0, or -E2BIG. */
int slice_decode(const uint8_t *code, size_t length, uint64_t start, struct flow_slice_work *work);
/* The instruction at `pc`, or SLICE_NOWHERE. */
uint16_t slice_index(const struct flow_slice_work *work, uint64_t start, uint64_t pc);
/* Enters the place at the instruction in the queue, unless it was there before. 0; -EINVAL: a
 * register that is not followed; -ENOSPC. */
int slice_enter(struct flow_slice_work *work, uint16_t index, const struct insn_place *place);
bool slice_is_call(const struct insn *insn);
bool slice_falls_through(const struct insn *insn);
/* Does a call leave the register as it was? */
bool slice_is_kept_by_calls(const struct insn_place *place);

#endif
