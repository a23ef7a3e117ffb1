/* SPDX-License-Identifier: Apache-2.0 */
/* insn_decode() with a memory: a watched place is touched by few instructions and often. */
#ifndef REGION_DECODE_H
#define REGION_DECODE_H

#include "insn/insn.h"

/* As insn_decode(). An instruction decoded before is recognised by its place and its bytes, so code
 * that was replaced is decoded anew. Async-signal-safe. */
int region_decode(const uint8_t *bytes, size_t available, uint64_t pc, struct insn *insn);

#endif
