/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watched bytes where the frames of a hit's own handler lie. A variable of a function that has
 * returned is below the thread's stack pointer: there the kernel writes the frame of the next
 * signal, and our functions theirs. That trips the watch while SIGTRAP is blocked, would be
 * delivered when the handler returns, and begin it anew, for ever: the thread would never come to
 * its next instruction.
 */
#ifndef HANDLER_OWN_FRAME_H
#define HANDLER_OWN_FRAME_H

#include "record/area.h"

/* At the handler's end: takes such a hit away, counted. All signals have been blocked since its
 * beginning, so what waits is the handler's own; what is not ours is put back. `frame`: of the
 * handler; `tag`: what it was called for. Not behind a limit's look, which sets the program's mask.
 * Async-signal-safe; makes system calls. Accepted: what still reads the stack on the way back trips
 * a watch that includes reads, and the handler begins anew. */
void own_frame_settle(struct area_process *process, uint64_t tag, const void *frame);

#endif
