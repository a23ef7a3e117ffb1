/* SPDX-License-Identifier: Apache-2.0 */
/* From a signal's context to the registers that src/insn computes operands from. */
#ifndef SIGNAL_REGISTERS_H
#define SIGNAL_REGISTERS_H

#include "insn/extended.h"
#include "insn/insn.h"

#include <ucontext.h>

/* Find out once what the CPU saves where; before any signal may need it. */
void registers_probe(void);

/* `extended` becomes a view of the signal frame and must live as long as `registers`.
 * Async-signal-safe. */
void registers_from_context(const ucontext_t *context, struct insn_registers *registers,
			    struct insn_extended *extended);

#endif
