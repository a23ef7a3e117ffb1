/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinding inside a signal handler of the process itself: function bounds and callers from
 * .eh_frame, found with _dl_find_object() (glibc >= 2.35, async-signal-safe). No allocation, no
 * lock, no fault: memory outside what is known to be mapped is read through the kernel.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* Bounds of the function (its frame description entry) around `pc` in this process. 0 or -ENOENT. */
int unwind_function_bounds(uintptr_t pc, uintptr_t *start, uintptr_t *end);

/*
 * Callers of the interrupted context: pcs[0] is the context's own pc, then return addresses,
 * innermost first, crossing signal frames. Returns how many (>= 1, at most max); sets *complete
 * to 0 when it stopped before the outermost frame. Falls back to the frame pointer where a frame
 * has no unwind information (JIT), if that leads up the stack to mapped code.
 */
int unwind_backtrace(const ucontext_t *context, uintptr_t *pcs, size_t max, int *complete);

/* One step: registers of the caller of `registers` (DWARF numbering 0..16, 16 = return address).
 * 0, 1 at the outermost frame, or -errno. */
struct unwind_registers {
	uint64_t value[17];
	uint32_t known; /* bit per register */
};
int unwind_step(struct unwind_registers *registers, int is_call_site);

#endif
