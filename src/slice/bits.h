/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bits of an instruction's source make which bits of its result, of places of at most eight
 * bytes: fields of a few bits lie in one byte. Bit 0 is the lowest of the source's, or the
 * result's, own place. SLICE_ALL_BITS: all, also of a larger one.
 */
#ifndef SLICE_BITS_H
#define SLICE_BITS_H

#include "insn/effect.h"

#define SLICE_ALL_BITS UINT64_MAX

/* The bits of source `source` that any of the `wanted` bits of the result depends on. */
uint64_t slice_bits_needed(const struct insn_result *result, unsigned source, uint64_t wanted);
/* Bits [8 * first, 8 * (first + length)) of `bits`, as the lowest ones; all: SLICE_ALL_BITS. */
uint64_t slice_bits_part(uint64_t bits, unsigned first, unsigned length);
/* The same bits of a place that begins `first` bytes before. */
uint64_t slice_bits_behind(uint64_t bits, unsigned first);
/* A bit for each byte that has any of the bits; the bytes from the eighth on have. */
uint64_t slice_bits_bytes(uint64_t bits);

#endif
