/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for SIGTRAP (wait.c), as seen by jumps. Async-signal-safe.
 */
#ifndef MASK_WAIT_H
#define MASK_WAIT_H

/* Called when the calling thread jumps, possibly out of a handler and past a waiting call: it waits
 * no longer. Where the jump stays in the handler, the call ends with EINTR after it. Accepted: a
 * thread whose handler jumps within itself just before the call waits without nudges. */
void wait_left(void);

#endif
