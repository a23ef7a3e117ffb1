/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: what is known of the C library's functions, in one table (libc/c_functions.def).
 *
 * What a function of the C library reads of its caller's memory, in the language's sense: a string
 * ends with its terminator, whatever the instructions load behind it. Pure functions: arguments and
 * memory are handed in, and memory is the program's, so its strings may never end. Runs outside, in
 * the controller's thread.
 */
#ifndef LIBC_C_FUNCTION_H
#define LIBC_C_FUNCTION_H

#include "memory/memory.h"

#include <stdbool.h>
#include <stdint.h>

#define C_ARGUMENTS 4 /* rdi, rsi, rdx, rcx */

enum c_operand_flag {
	C_TERMINATED = 1,
	C_BACKWARDS = 2,  /* from the last element on */
	C_COMPARES = 4,	  /* with `other`, element by element */
	C_FOLDS = 8,	  /* without regard to case */
	C_SPANS = 16,	  /* up to the first that is not in string `other` … */
	C_SPANS_NOT = 32, /* … or is */
	C_FINDS = 64,	  /* string `other` in it */
};

/* Numbers of arguments, -1: none. */
struct c_operand {
	int8_t pointer;
	int8_t count;
	int8_t wanted; /* the element that is looked for */
	int8_t other;  /* another string */
	uint8_t flags;
};

#define C_OPERANDS 2
struct c_function {
	const char *name;
	uint8_t width; /* bytes of an element: 1, or 4 of wide strings */
	struct c_operand operand[C_OPERANDS];
	uint8_t operands;
};

/* By the name of a symbol: names of the library's own for it and for its variants by CPU
 * (__strlen_avx2, __GI_strlen) are the same function. NULL: none of those in c_functions.def. */
const struct c_function *c_function_find(const char *symbol);

/* The same among the names of a program, which the C library is linked into: only those that C
 * reserves, and with endings of variants alone. */
const struct c_function *c_function_linked(const char *symbol);

/* Is it memcpy(), memmove() or mempcpy(), of which no load goes beyond the source? Their loads may
 * overlap each other. `linked`: as above. */
bool c_function_copies(const char *symbol, bool linked);

struct c_call {
	const struct c_function *function;
	uint64_t argument[C_ARGUMENTS];
	unsigned known; /* which of them are, a bit each */
	const struct symbol_memory *memory;
};

enum c_extent {
	C_EXTENT_WITHIN,  /* some of the bytes are read in the language's sense: *first, *length */
	C_EXTENT_OUTSIDE, /* none is */
	C_EXTENT_UNKNOWN, /* an argument is not known, or memory could not be read */
};

/* Which of the bytes [*first, *first + *length), that an instruction of the call loads, the call is
 * to read. */
enum c_extent c_extent(const struct c_call *call, uint64_t *first, uint64_t *length);

#endif
