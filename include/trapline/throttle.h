/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that throttle themselves: a budget of CPU time (or of any counter) per second, for some
 * threads or the whole process. A thread that is over it pauses in the handler of its own counter
 * until the budget has refilled; nothing outside stops it, and no other thread is looked at.
 *
 * What cannot be known: whether the thread holds a lock when it is paused. Others that want the
 * lock wait as long. tl_throttle_hold() and tl_throttle_release() mark what must not be paused.
 */
#ifndef TRAPLINE_THROTTLE_H
#define TRAPLINE_THROTTLE_H

#include <trapline/event.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_throttle tl_throttle;

struct tl_throttle_spec {
	size_t size;	  /* sizeof(struct tl_throttle_spec) */
	unsigned counter; /* enum tl_counter: what is limited */
	uint64_t budget;  /* units of the counter per second; CPU time: 1000000000 is one CPU */
	uint64_t burst;	  /* units that may be used at once after idling; 0: 50 ms of the budget */
	uint64_t period;  /* units between checks; 0: up to 2 ms of CPU time, 1 of other counters */
	enum tl_scope scope; /* as in tl_spec; the budget is shared by all threads of the scope,
			      * with TL_TREE by those of all its processes */
	const pid_t *tids;
	size_t ntids;
	const char *threads; /* only threads whose name matches this pattern (* and ?); NULL: all.
			      * Copied; at most 63 bytes */
};

/* Opens a throttle: 0, and *throttle is the caller's until tl_throttle_close(). `spec` and what it
 * points to are only read during the call. Errors as of tl_event_open(); -EINVAL also for a budget
 * of 0, a pattern that is too long, and context switches and migrations, since a pause is one
 * itself; -ENOSPC also beyond 16 throttles of CPU time, not counting those of a single thread or of
 * all the process. */
TL_API int tl_throttle_open(tl_throttle **throttle, const struct tl_throttle_spec *spec);
/* Changes the budget (units per second) and burst (units; 0 as above) of a running throttle. A
 * thread that is pausing notices within 20 ms. 0 or -errno. Async-signal-safe. */
TL_API int tl_throttle_set_budget(tl_throttle *throttle, uint64_t budget, uint64_t burst);
/*
 * From here to tl_throttle_release() the calling thread is not paused by any throttle; what it uses
 * is still counted and paid for afterwards. They nest. Async-signal-safe.
 */
TL_API void tl_throttle_hold(void);
/* Ends the calling thread's innermost tl_throttle_hold(); does nothing where there is none.
 * Async-signal-safe. */
TL_API void tl_throttle_release(void);
/* Nanoseconds that threads have paused so far, all together. Async-signal-safe. */
TL_API uint64_t tl_throttle_paused(const tl_throttle *throttle);
/* Lets pausing threads go within 20 ms, then frees the throttle. 0 or -errno. Not to be called in a
 * handler. */
TL_API int tl_throttle_close(tl_throttle *throttle);

#ifdef __cplusplus
}
#endif
#endif
