/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hot patching: replace functions of the running process while its threads go on calling them.
 *
 *	tl_patch *patch;
 *	int err = tl_patch_apply(&patch, (void *)checksum_v1, (void *)checksum_v2, 0);
 *
 * From a certain instant every caller reaches the new function: first by an execution breakpoint at
 * the old one's entry, with no byte of code changed, then by a jump written there, which frees the
 * breakpoint's slot. No thread is stopped. Threads already inside the old function finish in it.
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

/* Write no jump: the breakpoints stay, one of the four slots of each thread for each function.
 * Also replaces functions that are too short for a jump. */
#define TL_PATCH_BREAKPOINT 0x1u

typedef struct tl_patch tl_patch;

struct tl_patch_change {
	void *old_fn;
	void *new_fn;
};

/*
 * When it returns 0, every call of old_fn that begins from now on runs new_fn. *patch is the
 * caller's until tl_patch_revert(). If a jump can not be written for a reason of the moment (pages
 * that may not be made writable, a thread interrupted inside the entry's bytes), the patch stays on
 * its breakpoint: see tl_patch_on_breakpoint().
 *
 * -EINVAL   the function cannot be replaced so; tl_explain(-EINVAL) has the reason
 * -EEXIST   old_fn, or a function whose first bytes overlap it, is replaced already
 * -ELOOP    new_fn is itself replaced
 * -ENOSPC   no breakpoint slot is free in some thread
 * -EBUSY    a thread that runs has SIGTRAP blocked, so that it cannot be redirected
 * and what tl_event_open() returns. On failure nothing is changed.
 */
TL_API int tl_patch_apply(tl_patch **patch, void *old_fn, void *new_fn, unsigned flags);
/*
 * Several functions at once; they change together, but see "Limits" in docs/patch.md: while the
 * call runs, a thread may still call an old one after a new one. Needs a slot for each. -E2BIG for
 * more than TL_PATCH_MAX.
 */
#define TL_PATCH_MAX 4
TL_API int tl_patch_apply_all(tl_patch **patch, const struct tl_patch_change *changes, size_t count,
			      unsigned flags);
/*
 * When it returns 0, every call that begins from now on runs the old function, every byte of code
 * is as it was, and the patch is gone. Threads inside the new function finish in it. On failure
 * (-ENOSPC: no slot is free) the patch stays in force.
 */
TL_API int tl_patch_revert(tl_patch *patch);

/* 1 if the patch holds breakpoint slots, 0 if it is made of jumps alone. */
TL_API int tl_patch_on_breakpoint(const tl_patch *patch);
/* Why it does: static text, or NULL. */
TL_API const char *tl_patch_reason(const tl_patch *patch);

#ifdef __cplusplus
}
#endif
#endif
