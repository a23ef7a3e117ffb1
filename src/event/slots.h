/* SPDX-License-Identifier: Apache-2.0 */
/* Which hardware slots watch a run of bytes. Pure arithmetic. */
#ifndef EVENT_SLOTS_H
#define EVENT_SLOTS_H

#include <stdint.h>

#define SLOTS_MAX_PIECES 2
#define SLOTS_MAX_LENGTH 8

/* One naturally aligned block that one slot can watch. */
struct slot_piece {
	uintptr_t addr;
	unsigned length; /* 1, 2, 4 or 8 */
};

/*
 * Cover [addr, addr + length), 1 <= length <= 8, with at most two pieces. Returns how many. Exact
 * where two pieces can be; otherwise, or with `fewest`, blocks that reach beyond the range: hits
 * there must be told apart by the instruction's operand.
 */
int slots_plan(uintptr_t addr, unsigned length, int fewest, struct slot_piece *pieces);

#endif
