/* SPDX-License-Identifier: Apache-2.0 */
/* Of the explanations of a trap: what went to pc through memory. */
#ifndef INSN_TRANSFER_H
#define INSN_TRANSFER_H

#include "insn/attribution.h"

/* Proposes the calls, jumps and returns that may have led to pc. */
void insn_consider_transfers(struct attribution *attribution);

#endif
