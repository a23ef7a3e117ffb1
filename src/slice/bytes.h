/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of an instruction's source make which bytes of its result. A bit stands for a byte:
 * bit 0 for the first one of the source's, or the result's, own place.
 */
#ifndef SLICE_BYTES_H
#define SLICE_BYTES_H

#include "insn/effect.h"

/* The bytes of source `source` that any of the `wanted` bytes of the result depends on. */
uint64_t slice_bytes_needed(const struct insn_result *result, unsigned source, uint64_t wanted);
/* The bytes of the result that depend on any of the `held` bytes of source `source`. */
uint64_t slice_bytes_made(const struct insn_result *result, unsigned source, uint64_t held);

/* The bytes [first, first + length), at most 64. */
uint64_t slice_bytes_range(unsigned first, unsigned length);
/* Takes the lowest run of bytes that follow each other out of `*bytes`. False: none is left. */
bool slice_bytes_next(uint64_t *bytes, unsigned *first, unsigned *length);
/* Which bytes of `inner` lie in `outer`, which begins at another byte of the same register. */
uint64_t slice_bytes_common(const struct insn_place *outer, const struct insn_place *inner);

#endif
