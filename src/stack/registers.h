/* SPDX-License-Identifier: Apache-2.0 */
/* Registers as src/insn has them. */
#ifndef STACK_REGISTERS_H
#define STACK_REGISTERS_H

#include "insn/insn.h"

#include <trapline/tool.h>

/* `pc`: where they are thought to stand. */
struct insn_registers stack_registers(const struct tl_registers *from, uint64_t pc);

#endif
