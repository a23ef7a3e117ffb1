/* SPDX-License-Identifier: Apache-2.0 */
/* Code that is decoded from its beginning to its end, read in pieces: a system call for each
 * instruction would cost more than all the rest. */
#ifndef INSN_WINDOW_H
#define INSN_WINDOW_H

#include "insn/insn.h"

struct insn_window {
	/* Copies what can be read of [at, at + length) and returns how many bytes that is. */
	size_t (*read)(void *context, uint64_t at, uint8_t *bytes, size_t length);
	void *context;
	uint64_t at;   /* where the piece begins … */
	size_t length; /* … and its bytes; 0: none has been read */
	uint8_t bytes[1024];
};

/* The instruction at `at`, of code that ends at `end`; `at` is never lower than in the call before.
 * 0; -EFAULT: it cannot be read; else as insn_decode(). */
int insn_window_decode(struct insn_window *window, uint64_t at, uint64_t end, struct insn *insn);

#endif
