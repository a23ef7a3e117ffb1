/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of unwind information found before. Carrying out an entry's program takes most of a walk's
 * time, and the same places come up again and again. Kept are rows of the usual form alone: the
 * frame is a register and an offset, and what is saved lies at offsets from it.
 */
#ifndef UNWIND_ROWS_H
#define UNWIND_ROWS_H

#include "unwind/cfi.h"
#include "unwind/memory.h"
#include "unwind/object.h"

/* Registers that a function restores, in the order of `offset`; the stack pointer is the frame. */
#define ROWS_REGISTERS UNWIND_ROW_REGISTERS

struct known_row {
	uint8_t frame_register;
	uint8_t saved; /* bit per register: at frame + offset; else it has its value */
	int32_t frame_operand;
	int16_t offset[ROWS_REGISTERS];
};

/* The row at a place that lies in the object. */
bool rows_recall(uint64_t place, const struct object *object, struct known_row *row);
void rows_remember(uint64_t place, const struct object *object, const struct cfi_entry *entry,
		   const struct cfi_row *row);

/* As frame_apply(). `saved_at`: where each of the registers was saved last; 0: it is as it was. */
int rows_apply(const struct known_row *row, struct memory *memory,
	       struct unwind_registers *registers, uint64_t saved_at[static ROWS_REGISTERS]);

#endif
