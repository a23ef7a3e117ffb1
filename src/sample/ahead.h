/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead: the memory accesses that a thread is about to make, as far as its registers and
 * memory tell, up to where it may wait for another: what another thread writes there meanwhile is
 * not ordered with them. Erickson et al. (DataCollider, OSDI 2010) look at one access,
 * Effinger-Dean et al. (IFRit, OOPSLA 2012) at a region without synchronisation; here that is
 * followed by carrying out its instructions on a copy of the registers.
 *
 * The thread itself may go on meanwhile. Run by the controller's thread alone.
 */
#ifndef SAMPLE_AHEAD_H
#define SAMPLE_AHEAD_H

#include "insn/forward.h"
#include "process/space.h"

/* Where the thread will be then. */
struct ahead_end {
	uint64_t pc; /* 0: not known */
	bool waited; /* for another thread, as far as it may have to */
	/* Where it has first given something back that others wait for; 0: it has not. */
	uint64_t released;
};

typedef void ahead_fn(void *context, const struct insn_forward_access *access);

/* In so many instructions at most. False: there is none. `end` may be NULL. */
bool ahead_walk(struct space *space, const struct insn_registers *from, unsigned most,
		ahead_fn *each, void *context, struct ahead_end *end);

#endif
