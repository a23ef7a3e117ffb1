/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/registers.h"

#include <string.h>

struct insn_registers stack_registers(const struct tl_registers *from, uint64_t pc)
{
	struct insn_registers to = {.pc = pc, .flags = from->flags, .fs_base = from->fs_base};

	memcpy(to.general, from->general, sizeof(to.general));
	return to;
}
