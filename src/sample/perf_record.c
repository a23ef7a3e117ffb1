/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/perf_record.h"

#include <asm/perf_regs.h>

_Static_assert(PERF_RECORD_REGISTER_MASK == (0x3ffull | 0xffull << PERF_REG_X86_R8),
	       "ax to flags, r8 to r15");

/* perf's order of the first eight, as src/insn numbers them. */
static const uint8_t perf_order[8] = {0 /* ax */, 3 /* bx */, 1 /* cx */, 2 /* dx */,
				      6 /* si */, 7 /* di */, 5 /* bp */, 4 /* sp */};

bool perf_record_next(const struct ring *ring, struct perf_event_header *header)
{
	if (ring->tail + sizeof(*header) > ring->head)
		return false;
	ring_copy(ring, ring->tail, header, sizeof(*header));
	return header->size >= sizeof(*header);
}

bool perf_record_copy(const struct ring *ring, const struct perf_event_header *header, void *to,
		      size_t length)
{
	if (header->size < length)
		return false;
	ring_copy(ring, ring->tail, to, length);
	return true;
}

void perf_record_skip(struct ring *ring, const struct perf_event_header *header)
{
	ring->tail += header->size;
}

void perf_record_registers(const uint64_t from[static PERF_RECORD_REGISTERS],
			   struct insn_registers *to)
{
	for (int i = 0; i < 8; i++) {
		to->general[perf_order[i]] = from[i];
		to->general[8 + i] = from[10 + i];
	}
	to->pc = from[8];
	to->flags = from[9];
}
