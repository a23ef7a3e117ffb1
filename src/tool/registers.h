/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of an access as a tool is told them, converted to those of src/insn. */
#ifndef TOOL_REGISTERS_H
#define TOOL_REGISTERS_H

#include "insn/insn.h"

#include <string.h>
#include <trapline/tool.h>

/* `pc` is the instruction before which the registers stand: the one that made the access or the
 * next one. */
static inline struct insn_registers tool_registers(const struct tl_registers *from, uint64_t pc)
{
	struct insn_registers to = {.pc = pc, .flags = from->flags, .fs_base = from->fs_base};

	memcpy(to.general, from->general, sizeof(to.general));
	return to;
}

#endif
