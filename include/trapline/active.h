/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads used CPU time lately. Arming an inherited event interrupts a CPU for each thread,
 * sleeping ones too; arming the threads that ran in the last moments costs the same however many
 * sleep.
 *
 *	tl_active_open(&active, 1000000);
 *	…
 *	n = tl_active_threads(active, tids, 64, 10000000);
 *	spec.scope = TL_THREADS; spec.tids = tids; spec.ntids = n; spec.flags = TL_BEST_EFFORT;
 *
 * A thread that wakes after the list was drawn is not covered: this is for sampling.
 */
#ifndef TRAPLINE_ACTIVE_H
#define TRAPLINE_ACTIVE_H

#include <trapline/event.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_active tl_active;

/*
 * Begins to note which threads of this process use CPU time, by one sample in each `period_ns` of
 * the process's CPU time. 0, and *active is the caller's until tl_active_close(); -EINVAL: a period
 * of 0; -ENOMEM; and the errors of tl_event_open().
 */
TL_API int tl_active_open(tl_active **active, uint64_t period_ns);
/*
 * Threads that used CPU within the last `window_ns`, most recent first, at most `max`; returns how
 * many. `tids` is the caller's. One caller at a time; not async-signal-safe.
 */
TL_API int tl_active_threads(tl_active *active, pid_t *tids, size_t max, uint64_t window_ns);
/* Ends the sampling and frees *active; does nothing for NULL. No thread may be in
 * tl_active_threads() meanwhile. Not async-signal-safe. */
TL_API void tl_active_close(tl_active *active);

#ifdef __cplusplus
}
#endif
#endif
