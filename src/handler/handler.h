/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SIGTRAP handler: it notes a hit in the area and holds the thread that made it.
 *
 * The room holds the handler (handler.c), what it notes in a record (note.h), the filter that it
 * asks for lasting watches (choose.h), hits by the handler's own stack (own_frame.h), regions
 * (region.c), and what the handler needs in a process without the preload library (injected.c,
 * alone.c). It promises that no signal of ours reaches the program, that a hold ends by itself when
 * the controller dies or stops, and that watched memory is never touched. All of it runs in the
 * thread that made the access, with all signals blocked; it allocates nothing, and takes no lock to
 * note a hit.
 */
#ifndef HANDLER_HANDLER_H
#define HANDLER_HANDLER_H

#include "record/area.h"

#include <signal.h>
#include <ucontext.h>

/* Makes SIGTRAP ours in this process. 0 or -errno. */
int agent_handle_signals(void);
/* The handler itself. */
void agent_take_trap(int number, siginfo_t *info, void *context);

/* An access within a region, as src/region decoded it from the registers before the instruction
 * ran. */
struct agent_access {
	uint64_t pc, address;
	uint32_t length, access;
};

/* Notes a hit of a region's slot, which no hardware watches, and holds the thread as for any other
 * hit. */
void agent_note_access(struct area_process *process, uint32_t slot, uint32_t generation,
		       const struct agent_access *access, const ucontext_t *context);

#endif
