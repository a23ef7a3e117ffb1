/* SPDX-License-Identifier: Apache-2.0 */
/* From one look at a thread's registers to contended sites, by looking ahead from there. */
#ifndef USAGE_FORESEE_H
#define USAGE_FORESEE_H

#include "usage/usage.h"

/* CPU time for looking ahead in all processes of a run. */
struct foreseer {
	struct bucket bucket;
	uint64_t at; /* time of the bucket's state; CLOCK_MONOTONIC, ns; 0: not set yet */
};

/* Looks ahead from these registers, with which the thread was seen. It need not stand still. */
void foresee(struct target *target, pid_t tid, const struct insn_registers *registers);

#endif
