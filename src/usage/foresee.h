/* SPDX-License-Identifier: Apache-2.0 */
/* From one look at a thread's registers to contended sites, by looking ahead from there. */
#ifndef USAGE_FORESEE_H
#define USAGE_FORESEE_H

#include "explore/explorer.h"

/* The thread was seen with these registers. It need not stand still. */
void foresee(struct target *target, pid_t tid, const struct insn_registers *registers);

#endif
