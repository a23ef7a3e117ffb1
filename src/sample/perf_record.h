/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that the kernel writes to a ring (perf_event_open(2), "struct perf_event_header"): the
 * one reader of them. Which record comes next, and the registers of a sample. A record's fields
 * beyond that depend on what its event asked for, which the reader of those events knows.
 */
#ifndef SAMPLE_PERF_RECORD_H
#define SAMPLE_PERF_RECORD_H

#include "insn/insn.h"
#include "sample/ring.h"

#include <stdbool.h>

/* ax bx cx dx si di bp sp ip flags, r8 … r15 (asm/perf_regs.h); the mask is sample_regs_user. */
#define PERF_RECORD_REGISTERS 18
#define PERF_RECORD_REGISTER_MASK 0x00ff03ffull

/* The next record from the ring's tail on; false: there is none, or none that makes sense. The
 * caller has called ring_look(). */
bool perf_record_next(const struct ring *ring, struct perf_event_header *header);

/* Its first `length` bytes; false: it is shorter. */
bool perf_record_copy(const struct ring *ring, const struct perf_event_header *header, void *to,
		      size_t length);

/* Read; see ring_release(). */
void perf_record_skip(struct ring *ring, const struct perf_event_header *header);

/* From perf's order to that of src/insn. fs_base is not among them. */
void perf_record_registers(const uint64_t from[static PERF_RECORD_REGISTERS],
			   struct insn_registers *to);

#endif
