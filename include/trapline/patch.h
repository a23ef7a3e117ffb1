/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hot patching: replace functions of the running process while its threads go on calling them.
 *
 *	tl_patch *patch;
 *	int err = tl_patch_apply(&patch, (void *)checksum_v1, (void *)checksum_v2, 0);
 *
 * No thread is stopped, asked or waited for. While the jump to the new function is being written,
 * some microseconds, a caller meets a trap at the entry and is sent on from there; a thread that is
 * inside the bytes meets one at its next instruction and goes on in a copy of them.
 * docs/patch.md tells what the two functions must have in common.
 *
 * Not async-signal-safe, and not to be called in a tl_hit_fn. Calls of several threads take turns.
 */
#ifndef TRAPLINE_PATCH_H
#define TRAPLINE_PATCH_H

#include <trapline/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Write no byte of code: an execution breakpoint at each entry sends callers on, at the price of a
 * hit for each call and one of the four slots of each thread for each function. */
#define TL_PATCH_BREAKPOINT 0x1u

typedef struct tl_patch tl_patch;

struct tl_patch_change {
	void *old_fn;
	void *new_fn;
	/* Receives, before new_fn is first called, where the old function can be called meanwhile
	 * and afterwards, for a new one that adds to it. NULL: not wanted. Not on breakpoints. */
	void **original;
};

/*
 * When it returns 0, every call of old_fn that begins from now on runs new_fn; threads already
 * inside old_fn finish in it. *patch is the caller's until tl_patch_revert(). Where a jump cannot
 * be written (pages that may not be made writable, no free memory within a jump's reach), the patch
 * stands on breakpoints: see tl_patch_on_breakpoint().
 *
 * -EINVAL   the function cannot be replaced so; tl_explain(-EINVAL) has the reason
 * -EEXIST   old_fn, or a function whose first bytes overlap it, is replaced already
 * -ELOOP    new_fn is itself replaced
 * -EBUSY    a running thread has SIGILL blocked, the program has taken SIGILL by a raw system
 *           call, or somebody else has changed the code; tl_explain(-EBUSY) tells which
 * -EAGAIN   more than 1024 different functions have been replaced in this process
 * and, with breakpoints, what tl_event_open() returns. On failure nothing is changed.
 */
TL_API int tl_patch_apply(tl_patch **patch, void *old_fn, void *new_fn, unsigned flags);
/*
 * Several functions at once: each thread calls old ones only up to some instant and new ones only
 * from then on. Errors as of tl_patch_apply(), and -E2BIG for more than TL_PATCH_MAX.
 */
#define TL_PATCH_MAX 64
TL_API int tl_patch_apply_all(tl_patch **patch, const struct tl_patch_change *changes, size_t count,
			      unsigned flags);
/*
 * When it returns 0, every call that begins from now on runs the old function, every byte of code
 * is as it was, and the patch is gone. Threads inside the new function finish in it. On failure
 * the patch stays in force.
 */
TL_API int tl_patch_revert(tl_patch *patch);

/* 1 if the patch stands on breakpoints and holds their slots, 0 if it is made of jumps. */
TL_API int tl_patch_on_breakpoint(const tl_patch *patch);
/* Why it does though TL_PATCH_BREAKPOINT was not given: static text, or NULL. */
TL_API const char *tl_patch_reason(const tl_patch *patch);
/*
 * Let `trapline patch -p PID` of the same user, or of root, patch this process: starts one thread,
 * which has its own table of descriptors, so that none is added to the program's. Done once; again
 * in forked children. `trapline run` and --patchable do it for programs that do not. 0 or -errno.
 */
TL_API int tl_patch_listen(void);

#ifdef __cplusplus
}
#endif
#endif
