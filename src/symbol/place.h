/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: what is asked about an address of a process, answered by the rooms below: its function,
 * file and line (here), the callers of a stopped or copied stack (symbol/stack.h), the variable at
 * an address of data (symbol/variable.h), and the other way, the address of a name
 * (symbol/lookup.h, symbol/target.h).
 *
 * Each public function asks the reader of files first, where the session has one, and else does the
 * work itself (session/asking.h). Nothing known is an answer, never an error; strings belong to the
 * session. Runs in the reader of files, and for its asker in the one thread that has the session.
 *
 * This file: from a code address to functions, files and lines, inlined ones included.
 */
#ifndef SYMBOL_PLACE_H
#define SYMBOL_PLACE_H

#include "module/module.h"

#define SYMBOL_INLINE_MAX 32
#define SYMBOL_OFFSET_UNKNOWN UINT64_MAX

/* What is at an address of code. Strings belong to the session. */
struct symbol_frame {
	uint64_t pc;	      /* the address, as it was asked for */
	const char *function; /* demangled; NULL: unknown */
	const char *linkage;  /* as the linker knows it; NULL: unknown */
	/* Distance of pc from the function's first byte. 0 for inlined functions; unknown in a cold
	 * part, which the compiler put elsewhere. */
	uint64_t function_offset;
	unsigned function_line; /* line on which the function is declared; 0: unknown */
	const char *file;	/* absolute where the compiler said so; NULL: unknown */
	unsigned line, column;	/* 0: unknown */
	bool inlined;		/* the function was inlined into that of the next frame */
	/* the compiler made the code up: the line is that of the code before it */
	bool line_guessed;
	const char *module;	/* path; NULL: pc is in no known file */
	const char *build_id;	/* hexadecimal; the empty string: none */
	uint64_t module_offset; /* the file's own address of pc, which addr2line -e takes */
};

/*
 * Fills in the frames at `pc`, innermost first: inlined functions, then the one that holds the
 * code. `return_address`: pc was found on a stack, so the call stands before it. Returns how many
 * frames there are: at least one and at most `max` (> 0).
 */
size_t symbol_place_find(struct symbol_modules *modules, uint64_t pc, bool return_address,
			 struct symbol_frame *frames, size_t max);

#endif
