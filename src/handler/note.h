/* SPDX-License-Identifier: Apache-2.0 */
/* What a record says of the thread that made a hit: registers, stack, value, name. */
#ifndef HANDLER_NOTE_H
#define HANDLER_NOTE_H

#include "base/perf_siginfo.h"
#include "handler/choose.h"

#include <stdbool.h>
#include <ucontext.h>

/* Fills in a record that this thread has claimed, but for what name_hit() of handler.c says. Memory
 * is copied by the kernel, so the watchpoint does not trip. `quiet`: a seccomp filter forbids
 * system calls, so neither memory nor the thread's id is noted; the thread pointer then stands for
 * the id. `choice`: what the filter has read already; NULL: no filter was asked. Async-signal-safe.
 */
void note_hit(struct area_hit *hit, const struct perf_siginfo *info, const ucontext_t *context,
	      struct area_slot *slot, bool quiet, const struct agent_choice *choice);

#endif
