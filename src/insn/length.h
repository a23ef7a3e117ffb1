/* SPDX-License-Identifier: Apache-2.0 */
/* The length of one instruction and nothing else: what walking through a function needs. */
#ifndef INSN_LENGTH_H
#define INSN_LENGTH_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the instruction at `bytes`, of which `available` may be read. 1 to INSN_MAX_LENGTH, or
 * -EILSEQ (not an instruction), or -ENODATA (needs more bytes). */
int insn_length(const uint8_t *bytes, size_t available);

#endif
