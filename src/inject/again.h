/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that end early because their thread was stopped. */
#ifndef INJECT_AGAIN_H
#define INJECT_AGAIN_H

#include <stdbool.h>

/*
 * Calls that end with EINTR when a thread is stopped and goes on, though nobody sent it a signal
 * (signal(7)), and that have done nothing by then. The kernel is told to begin them again unless a
 * handler runs. Accepted: one with a timeout waits anew for all of it.
 */
bool again_may_begin(long call);

#endif
