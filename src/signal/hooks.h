/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals, and what an interrupted thread's context says.
 *
 * The room holds the dispositions that we take over and share with the program (ownership.h, with
 * libc's functions that set them interposed: interpose.c), calls that a hit meets together with a
 * signal (interrupted.h), the children that borrow our memory (borrower.h), alternate stacks that
 * are too small (alternate.h), and which debug traps nothing explains (cause.h). It promises that
 * the program sees and gets what it would without us. All of it runs inside the watched program, in
 * the thread that took the signal or made the call; what is called from handlers says that it is
 * async-signal-safe.
 *
 * This header is what it knows of an architecture, and everybody above (insn/hooks.h has how one
 * is chosen). "signal/arch.h" has signal_arch, the struct below. Beside it an architecture has
 *   signal/registers.h  registers_probe() and registers_from_context()
 *   signal/cause.h      cause_is_missing()
 */
#ifndef SIGNAL_HOOKS_H
#define SIGNAL_HOOKS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct signal_hooks {
	/* Of an interrupted thread. */
	uintptr_t (*pc)(const ucontext_t *context);
	uintptr_t (*stack)(const ucontext_t *context);
	/* It goes on at `pc` when the handler returns. An execution breakpoint there fires, unless
	 * it is the one that the thread was stopped by. */
	void (*go_on_at)(ucontext_t *context, uintptr_t pc);
	/* Does it begin a system call again that the signal interrupted, one that a handler without
	 * SA_RESTART ends? */
	bool (*begins_again)(const ucontext_t *context);
	/* Where the kernel lets the thread begin a system call again that the signal interrupted,
	 * since our action says SA_RESTART, the call ends with EINTR instead. */
	void (*end_call)(ucontext_t *context);
};

#endif
