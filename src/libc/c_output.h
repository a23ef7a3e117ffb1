/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the C library that print to a stream or into a buffer: what a call takes of its
 * arguments, in the language's sense, by the format where it has one (libc/c_format.h). They
 * return, and change nothing of the program's memory but that buffer. Pure.
 */
#ifndef LIBC_C_OUTPUT_H
#define LIBC_C_OUTPUT_H

#include <stdint.h>

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

#endif
