/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watched bytes that a restartable sequence (rseq(2)) touches before its last instruction. Any
 * signal that comes within one makes the kernel begin it anew, and a hit is a signal: the sequence
 * would come to the same access and be begun anew for ever. Where a thread does nothing else the
 * controller is asked to leave the process alone.
 */
#ifndef HANDLER_SEQUENCE_H
#define HANDLER_SEQUENCE_H

#include "record/area.h"

#include <ucontext.h>

/* Of a hit of a hardware slot, noted or not. Async-signal-safe; makes system calls. Accepted: under
 * a filter, where it may make none, nothing is noticed, nor are hits of regions. */
void sequence_note(struct area_process *process, const struct area_slot *slot,
		   const ucontext_t *context);

#endif
