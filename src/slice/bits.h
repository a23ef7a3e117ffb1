/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bits of an instruction's source make which bits of its result. Bytes are too coarse where
 * fields of a few bits lie in one byte. Bit 0 is the lowest bit of the source's, or the result's,
 * own place, which has at most eight bytes. SLICE_ALL_BITS stands for all bits, also of a larger
 * place.
 */
#ifndef SLICE_BITS_H
#define SLICE_BITS_H

#include "insn/effect.h"

#define SLICE_ALL_BITS UINT64_MAX

/* The bits of source `source` that any of the `wanted` bits of the result depends on. */
uint64_t slice_bits_needed(const struct insn_result *result, unsigned source, uint64_t wanted);
/* Bits [8 * first, 8 * (first + length)) of `bits`, moved down to bit 0. Of SLICE_ALL_BITS:
 * SLICE_ALL_BITS. */
uint64_t slice_bits_part(uint64_t bits, unsigned first, unsigned length);
/* The same bits, counted from a place that begins `first` bytes earlier. */
uint64_t slice_bits_behind(uint64_t bits, unsigned first);
/* A bit for each byte that has any of the bits. The bytes from the eighth on count as having
 * some. */
uint64_t slice_bits_bytes(uint64_t bits);

#endif
