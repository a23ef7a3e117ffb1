/* SPDX-License-Identifier: Apache-2.0 */
/* From one frame to its caller. */
#ifndef UNWIND_FRAME_H
#define UNWIND_FRAME_H

#include "unwind/cfi.h"
#include "unwind/memory.h"
#include "unwind/unwind.h"

/*
 * Make `registers` those of the caller, by a row of unwind information. 0, 1 where the information
 * says that there is no caller, or -errno, which leaves `registers` alone.
 */
int frame_apply(const struct bytes *section, const struct cfi_entry *entry,
		const struct cfi_row *row, struct memory *memory,
		struct unwind_registers *registers);

/* The same for code without unwind information, by its frame pointer. 0 or -errno. */
int frame_follow_pointer(struct memory *memory, struct unwind_registers *registers);

/* Whether the instruction before `address` is a call, as before every return address. */
bool frame_is_return_address(struct memory *memory, uint64_t address);

#endif
