/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinding inside a signal handler of the process itself: function bounds and callers from
 * .eh_frame, found with _dl_find_object() (glibc >= 2.35, async-signal-safe). No allocation, no
 * lock, no fault: memory outside what is known to be mapped is read through the kernel.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "unwind/arch.h"

/* Bounds of the function (its frame description entry) around `pc` in this process. 0 or -ENOENT.
 */
int unwind_function_bounds(uintptr_t pc, uintptr_t *start, uintptr_t *end);

/*
 * Callers of the interrupted context: pcs[0] is the context's own pc, then return addresses,
 * innermost first, crossing signal frames. Returns how many (>= 1, at most max); sets *complete
 * to 0 when it stopped before the outermost frame. Falls back to the frame pointer where a frame
 * has no unwind information (JIT), if that leads up the stack to mapped code. `complete` may be
 * NULL.
 */
int unwind_backtrace(const ucontext_t *context, uintptr_t *pcs, size_t max, int *complete);

struct unwind_registers {
	uint64_t value[UNWIND_REGISTER_COUNT];
	uint32_t known; /* bit per register */
	/* 1: value[UNWIND_PC] is an interrupted instruction; 0: it is a return address, and the
	 * frame's code is the call before it. */
	uint32_t interrupted;
};

/*
 * The words of the stack that decided a walk: return addresses, and the saved registers by which a
 * frame was found. A walk from the same registers over the same words leads to the same callers.
 */
#define UNWIND_TRAIL 48u
struct unwind_trail {
	uint32_t count;
	bool whole;	       /* all that decided the walk is among the words, … */
	bool by_frame_pointer; /* … but for the frame pointer that it began with */
	struct {
		uint64_t address, value;
	} word[UNWIND_TRAIL];
};

/* The same of a call that is still under way: `registers` are the caller's, as far as they are
 * known, and pcs[0] is the return address into it. What lies from the stack pointer up to
 * `plain_until` is mapped, and is read as it is; 0: nothing is known of it. `trail` may be NULL. */
int unwind_callers(const struct unwind_registers *registers, uint64_t plain_until, uintptr_t *pcs,
		   size_t max, struct unwind_trail *trail);

/* Registers that functions keep, in the order of the instruction encoding, as a caller of this
 * function has them again when the call has returned behind which its stack pointer is
 * `stack_pointer`. The others are left as they are. False: the walk does not come there. */
bool unwind_kept(uint64_t stack_pointer, uint64_t general[]);

#endif
