/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinding from recorded registers and a copy of the top of the stack. The program may be gone:
 * its files are enough.
 */
#ifndef SYMBOL_STACK_H
#define SYMBOL_STACK_H

#include "dwarf/registers.h"
#include "module/module.h"

#define SYMBOL_STACK_MAX 256

struct symbol_stack_source {
	struct symbol_registers registers;
	/* The bytes [copy_address, copy_address + copy_length) of the stack, as they were at the
	 * hit. */
	const void *copy;
	uint64_t copy_address;
	size_t copy_length;
	/* Reads memory beyond the copy; NULL: none can be read. Only right while the thread is
	 * held. */
	const struct symbol_memory *memory;
};

struct symbol_stack_frame {
	uint64_t pc;
	bool return_address; /* pc is after a call: look it up with return_address = true */
	bool signal;	     /* the kernel's frame of a signal */
	bool guessed;	     /* the frame was guessed, without unwind information */
	bool has_cfa;
	uint64_t cfa; /* canonical frame address: the caller's stack pointer before the call */
	struct symbol_registers registers; /* in this frame, as far as known */
};

/* Frames come innermost first. Returns how many there are: at least 1 and at most `max`. *complete:
 * the outermost frame was reached. */
size_t symbol_stack_unwind(struct symbol_modules *modules, const struct symbol_stack_source *source,
			   struct symbol_stack_frame *frames, size_t max, bool *complete);

#endif
