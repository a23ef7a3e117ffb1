/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hit: what a tl_hit_fn is told. A tl_hit lives on the handler's stack and ends with the handler.
 * Every function here is async-signal-safe, cannot fail unless it says so, and is called in the
 * handler's own thread, the one that made the access.
 */
#ifndef TRAPLINE_HIT_H
#define TRAPLINE_HIT_H

#include <trapline/event.h>
#include <ucontext.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The event that was hit; closing it from its own handler is allowed (tl_event_close()). */
TL_API tl_event *tl_hit_event(const tl_hit *hit);
/* Address of the instruction that made the access, not of the one after it. */
TL_API uintptr_t tl_hit_pc(const tl_hit *hit);
/* Address of the instruction at which the thread will resume. */
TL_API uintptr_t tl_hit_next_pc(const tl_hit *hit);
/* Address of the first byte touched, by the instruction's own operand where that is decoded. It may
 * lie below the watched range when the access begins before it. */
TL_API const void *tl_hit_addr(const tl_hit *hit);
/* Number of bytes that the instruction touched there. 0 for code and counters. */
TL_API size_t tl_hit_size(const tl_hit *hit);
/* TL_READ | TL_WRITE | TL_EXEC, and TL_ATOMIC, TL_KERNEL, TL_LATE, TL_GUESSED. 0 for counters. */
TL_API unsigned tl_hit_access(const tl_hit *hit);
/* The kernel's id of the thread that made the access, which is the calling one. */
TL_API pid_t tl_hit_tid(const tl_hit *hit);
/* The interrupted context, valid until the handler returns. Changes to it take effect then. */
TL_API ucontext_t *tl_hit_context(tl_hit *hit);
/* Resumes after the instruction at tl_hit_pc(): skips the instruction of an execution hit, and is
 * where a data hit resumes anyway. 0, or -ENOEXEC if the instruction cannot be decoded. */
TL_API int tl_hit_skip(tl_hit *hit);
/* Resumes at `pc` with the context's other registers. Returns 0. */
TL_API int tl_hit_resume_at(tl_hit *hit, uintptr_t pc);
/*
 * Fills `pcs`, which is the caller's, with return addresses of the interrupted thread, innermost
 * first; pcs[0] is tl_hit_pc(). Works through code without frame pointers by its unwind tables
 * (.eh_frame). Returns how many, at most `max`.
 */
TL_API int tl_hit_backtrace(tl_hit *hit, uintptr_t *pcs, size_t max);

#ifdef __cplusplus
}
#endif
#endif
