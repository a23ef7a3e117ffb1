/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watched bytes where the handler's own frames lie. A variable of a function that has returned is
 * below the thread's stack pointer, where the kernel writes the frame of the next signal and our
 * functions write theirs. That trips the watch while SIGTRAP is blocked. The pending SIGTRAP would
 * be delivered when the handler returns and start it anew, for ever: the thread would never reach
 * its next instruction.
 */
#ifndef HANDLER_OWN_FRAME_H
#define HANDLER_OWN_FRAME_H

#include "record/area.h"

/* Called at the handler's end: takes such a hit away and counts it. All signals have been blocked
 * since the handler began, so a pending SIGTRAP of ours was made by the handler; one that is not
 * ours is put back. `frame`: the handler's; `tag`: of the signal that it was called for (after the
 * signal of a limit nothing is done, since throttle_look() restores the program's mask).
 * Async-signal-safe; makes system calls. Accepted: reads of the stack on the way back trip a watch
 * that includes reads, and the handler begins anew. */
void own_frame_settle(struct area_process *process, uint64_t tag, const void *frame);

#endif
