/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that a tool is told of an access, as src/insn has them. */
#ifndef TOOL_REGISTERS_H
#define TOOL_REGISTERS_H

#include "insn/insn.h"

#include <string.h>
#include <trapline/tool.h>

/* `pc`: the instruction at which the registers are taken to stand, which may be the one that made
 * the access or the next one. */
static inline struct insn_registers tool_registers(const struct tl_registers *from, uint64_t pc)
{
	struct insn_registers to = {.pc = pc, .flags = from->flags, .fs_base = from->fs_base};

	memcpy(to.general, from->general, sizeof(to.general));
	return to;
}

#endif
