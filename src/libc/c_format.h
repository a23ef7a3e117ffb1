/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats of printf() (C11 7.21.6.1): which arguments behind it they take. Pure functions: the
 * format is read by a callback, and is the program's, so it may be anything.
 */
#ifndef LIBC_C_FORMAT_H
#define LIBC_C_FORMAT_H

#include "memory/memory.h"

#include <stdbool.h>
#include <stdint.h>

#define C_FORMAT_TAKEN 24 /* arguments of one call, at most */

enum c_format_kind {
	C_FORMAT_INTEGER,   /* its low `bits`, as digits */
	C_FORMAT_CHARACTER, /* its low `bits`, as they are */
	C_FORMAT_DOUBLE,    /* in a register of vectors */
	C_FORMAT_STRING,    /* up to its terminator, and at most `most` bytes */
	C_FORMAT_WIDE,	    /* a wide character, or a string of them */
};

struct c_format_taken {
	enum c_format_kind kind;
	unsigned bits;
	int64_t most; /* C_FORMAT_ANY; or C_FORMAT_BEFORE: what the argument before it says */
};

#define C_FORMAT_ANY (-1)
#define C_FORMAT_BEFORE (-2)

struct c_format {
	struct c_format_taken taken[C_FORMAT_TAKEN];
	int count;
	/* That is all. False: the format cannot be read to its end, takes more, or has a conversion
	 * that is not known here (%n, long doubles, numbered arguments) behind these. */
	bool whole;
};

void c_format_read(const struct symbol_memory *memory, uint64_t address, struct c_format *format);

#endif
