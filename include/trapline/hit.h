/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hit: what a tl_hit_fn is told. A tl_hit lives on the handler's stack and ends with the handler.
 * Every function here is async-signal-safe and is called in the thread that tripped.
 */
#ifndef TRAPLINE_HIT_H
#define TRAPLINE_HIT_H

#include <trapline/event.h>
#include <ucontext.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The event that it is a hit of; closing it from its own handler is allowed (tl_event_close()). */
TL_API tl_event *tl_hit_event(const tl_hit *hit);
/* The instruction that made the access, not the one after. */
TL_API uintptr_t tl_hit_pc(const tl_hit *hit);
/* Where the thread will resume. */
TL_API uintptr_t tl_hit_next_pc(const tl_hit *hit);
/* First byte touched, by the instruction's own operand where decoded. May lie below the watched
 * range when the access begins before it. */
TL_API const void *tl_hit_addr(const tl_hit *hit);
/* Bytes the instruction touched there. 0 for code and counters. */
TL_API size_t tl_hit_size(const tl_hit *hit);
/* TL_READ | TL_WRITE | TL_EXEC, and TL_ATOMIC, TL_KERNEL, TL_LATE, TL_GUESSED. 0 for counters. */
TL_API unsigned tl_hit_access(const tl_hit *hit);
/* The kernel's id of the thread that tripped, which is the calling one. */
TL_API pid_t tl_hit_tid(const tl_hit *hit);
/* The interrupted context. Changes to it take effect when the handler returns. */
TL_API ucontext_t *tl_hit_context(tl_hit *hit);
/* Resume after the instruction at tl_hit_pc(): skips the instruction of an execution hit, and is
 * where a data hit resumes anyway. -ENOEXEC if the instruction cannot be decoded. */
TL_API int tl_hit_skip(tl_hit *hit);
/* Resume at `pc` with the context's other registers. 0. */
TL_API int tl_hit_resume_at(tl_hit *hit, uintptr_t pc);
/*
 * Return addresses of the interrupted thread, innermost first; pcs[0] is tl_hit_pc(). Works through
 * code without frame pointers by its unwind tables (.eh_frame). Returns how many, at most `max`.
 */
TL_API int tl_hit_backtrace(tl_hit *hit, uintptr_t *pcs, size_t max);

#ifdef __cplusplus
}
#endif
#endif
