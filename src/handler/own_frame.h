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

#include <stdbool.h>
#include <ucontext.h>

/* Called at the handler's end: takes such a hit away and counts it. All signals have been blocked
 * since the handler began, so a pending SIGTRAP of ours was made by the handler; one that is not
 * ours is put back. `frame`: the handler's; `tag`: of the signal that it was called for (after the
 * signal of a limit nothing is done, since throttle_look() restores the program's mask).
 * Async-signal-safe; makes system calls. Reads of the stack on the way back, by the handler's last
 * instructions and by the kernel's rt_sigreturn(2), come after that: own_frame_again(). */
void own_frame_settle(struct area_process *process, uint64_t tag, const void *frame);

/*
 * Is this hit of a watch without an end the handler's own, made on its way back from the hit
 * before? True where the thread has run no instruction of the program since, as all of its
 * registers say: such a hit is counted and not told. Where that goes on, the slot's `framed` asks
 * the controller to let the watch rest, in which the thread goes on. Until then signals of the
 * program's are let in here, since nothing else of it runs; a controller that does not answer
 * within a second is not waited for, and the thread goes on with SIGTRAP blocked: its later hits
 * are lost. Async-signal-safe; makes system calls unless `quiet`.
 */
bool own_frame_again(struct area *area, struct area_process *process, uint64_t tag,
		     ucontext_t *context, const void *frame, bool quiet);

#endif
