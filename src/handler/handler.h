/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SIGTRAP handler: a hit is noted in the area, and its thread held. It runs in the thread that
 * made the access, with all signals blocked.
 */
#ifndef HANDLER_HANDLER_H
#define HANDLER_HANDLER_H

#include "record/area.h"

#include <signal.h>
#include <ucontext.h>

/* Install it. 0 or -errno. */
int agent_handle_signals(void);
/* The handler itself. */
void agent_take_trap(int number, siginfo_t *info, void *context);

/* An access as the region's handler understood it, from the registers before the instruction. */
struct agent_access {
	uint64_t pc, address;
	uint32_t length, access;
};

/* Note a hit of a slot that is no hardware's. */
void agent_note_access(struct area_process *process, uint32_t slot, uint32_t generation,
		       const struct agent_access *access, const ucontext_t *context);

#endif
