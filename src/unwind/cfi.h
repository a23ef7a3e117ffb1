/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information: what a frame description entry says about one place in the code. Works
 * on bytes and bounds handed in; reads nothing else. DWARF 5, section 6.4, with the differences of
 * .eh_frame (Linux Standard Base, "Exception Frames").
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/bytes.h"
#include "unwind/unwind.h"

struct cfi_range { /* positions in the section */
	size_t first;
	size_t end;
};

/* A frame description entry together with its common information entry. */
struct cfi_entry {
	uint64_t start; /* the code it covers: [start, end) */
	uint64_t end;
	uint64_t code_alignment;
	int64_t data_alignment;
	struct cfi_range common_program;
	struct cfi_range program;
	uint8_t return_register;
	uint8_t pointer_encoding;
	bool signal_frame;
	bool sized; /* augmentation data carries its length */
};

enum cfi_rule {
	CFI_UNSPECIFIED, /* as the calling convention says */
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_OFFSET,	      /* saved at the frame address + operand */
	CFI_VALUE_OFFSET,     /* is the frame address + operand */
	CFI_REGISTER,	      /* is in register `operand` */
	CFI_EXPRESSION,	      /* saved where the expression says */
	CFI_VALUE_EXPRESSION, /* is what the expression says */
};

#define CFI_FRAME_BY_EXPRESSION 0xff /* for frame_register */

/* Kept small: a handler's stack holds several. An expression is its position in the section. */
struct cfi_row {
	uint8_t frame_register;
	uint8_t rule[UNWIND_REGISTER_COUNT];
	int32_t frame_operand; /* offset, or expression */
	int32_t operand[UNWIND_REGISTER_COUNT];
};

/* The entry at a position of the section. 0, -ENOENT (not a frame description) or -EINVAL. */
int cfi_read_entry(const struct bytes *section, size_t position, struct cfi_entry *entry);

/* Position of the entry after this one; 0 at the end of the section or where it makes no sense. */
size_t cfi_next_position(const struct bytes *section, size_t position);

/* How the registers of the caller are found when the code is at `pc`. 0 or -EINVAL. */
int cfi_find_row(const struct bytes *section, const struct cfi_entry *entry, uint64_t pc,
		 struct cfi_row *row);

#endif
