/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that the kernel writes to a ring (perf_event_open(2), "struct perf_event_header"): the
 * one reader of them. Which record comes next, and the registers of a sample. A record's fields
 * beyond that depend on what its event asked for, which the reader of those events knows.
 */
#ifndef SAMPLE_PERF_RECORD_H
#define SAMPLE_PERF_RECORD_H

#include "event/arch.h"
#include "insn/insn.h"
#include "sample/ring.h"

#include <stdbool.h>

#define PERF_RECORD_REGISTERS EVENT_SAMPLED_REGISTERS
#define PERF_RECORD_REGISTER_MASK event_arch.sampled

/* The next record from the ring's tail on; false: there is none, or none that makes sense. The
 * caller has called ring_look(). */
bool perf_record_next(const struct ring *ring, struct perf_event_header *header);

/* Its first `length` bytes; false: it is shorter. */
bool perf_record_copy(const struct ring *ring, const struct perf_event_header *header, void *to,
		      size_t length);

/*
 * The stack of a sample, PERF_SAMPLE_STACK_USER, whose `size` bytes (`most` at most) begin at
 * `offset` of the record: what was asked for, then how much of that is real. Returns how much is;
 * 0: none, or the record is shorter.
 */
size_t perf_record_stack(const struct ring *ring, const struct perf_event_header *header,
			 size_t offset, uint64_t size, void *to, size_t most);

/* Read; see ring_release(). */
void perf_record_skip(struct ring *ring, const struct perf_event_header *header);

/* From a sample's order to that of src/insn. The thread pointer is not among them. */
static inline void perf_record_registers(const uint64_t from[static PERF_RECORD_REGISTERS],
					 struct insn_registers *to)
{
	event_arch.registers(from, to);
}

#endif
