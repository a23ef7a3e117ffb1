/* SPDX-License-Identifier: Apache-2.0 */
/* From a signal's context to the registers that src/insn computes operands from. */
#ifndef TRAP_REGISTERS_H
#define TRAP_REGISTERS_H

#include "insn/insn.h"

#include <ucontext.h>

/* `extended` may be NULL; otherwise it receives the vector and mask state of the signal frame and
 * must live as long as `registers`. Async-signal-safe. */
void registers_from_context(const ucontext_t *context, struct insn_registers *registers,
			    struct insn_extended *extended);

#endif
