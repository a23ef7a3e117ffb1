/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF expressions as call frame information uses them (DWARF 5, sections 2.5 and 6.4.2). */
#ifndef UNWIND_EXPRESSION_H
#define UNWIND_EXPRESSION_H

#include "unwind/bytes.h"
#include "unwind/memory.h"
#include "unwind/unwind.h"

/*
 * Evaluate the block (its length comes first) at `position` of the section. `initial` is pushed
 * first where it is not NULL. 0, -EINVAL (malformed, or without end) or -EFAULT.
 */
int expression_evaluate(const struct bytes *section, size_t position,
			const struct unwind_registers *registers, const uint64_t *initial,
			struct memory *memory, uint64_t *result);

#endif
