/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the C library that print to a stream or into a buffer: what a call takes of its
 * arguments, by the format where it has one, in the language's sense. They return, and change
 * nothing of the program's memory but that buffer. Pure functions: the format is read by a
 * callback, and is the program's, so it may be anything.
 */
#ifndef LIBC_C_OUTPUT_H
#define LIBC_C_OUTPUT_H

#include "memory/memory.h"

#include <stdbool.h>
#include <stdint.h>

#define C_OUTPUT_TAKEN 24 /* arguments of one call, at most */

enum c_output_kind {
	C_OUTPUT_INTEGER,   /* its low `bits`, as digits */
	C_OUTPUT_CHARACTER, /* its low `bits`, as they are */
	C_OUTPUT_DOUBLE,
	C_OUTPUT_STRING, /* up to its terminator, and at most `most` bytes */
};

struct c_output_taken {
	enum c_output_kind kind;
	unsigned bits;
	int64_t most; /* C_OUTPUT_ANY; or C_OUTPUT_BEFORE: what the argument before it says */
};

#define C_OUTPUT_ANY (-1)
#define C_OUTPUT_BEFORE (-2)

struct c_output {
	const char *name;
	/* Numbers of arguments, -1: it has none. */
	int8_t stream;
	int8_t to, room; /* a buffer, and how long it is */
	int8_t format;
	int8_t string;
	int8_t character;
};

/* By the name of a symbol, as c_function_find(). NULL: none of these. */
const struct c_output *c_output_find(const char *symbol);

/* What the format takes, in order. Its number; -1: it cannot be read, has more, or conversions that
 * are not known here (%n, wide characters, long doubles, numbered arguments). */
int c_output_format(const struct symbol_memory *memory, uint64_t format,
		    struct c_output_taken taken[C_OUTPUT_TAKEN]);

#endif
