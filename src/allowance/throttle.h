/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits: what threads, or the whole process, may use of CPU time. A thread that has used more
 * pauses itself.
 */
#ifndef ALLOWANCE_THROTTLE_H
#define ALLOWANCE_THROTTLE_H

#include "record/area.h"

#include <ucontext.h>

/* The event of a limit has fired: pay for what was used, and pause when it is not earned yet.
 * Async-signal-safe. */
void throttle_look(struct area_process *process, uint32_t index, bool late,
		   const ucontext_t *context);
/* Sets the fields of this process's entry that limits use, before it announces itself. */
void throttle_enter(struct area *area, struct area_process *process);
/* The controller has let this process begin: pays for the CPU time used until now. */
void throttle_begin(void);
/* This process ends: pays for the CPU time used since the last look. */
void throttle_end(void);
/* Tell the controller what children that were waited for used. Async-signal-safe. */
void throttle_note_children(void);
/* Let pausing threads notice that something has changed. */
void throttle_wake(struct area *area);

#endif
