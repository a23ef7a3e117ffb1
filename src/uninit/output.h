/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that print, as the walk of a value comes to them. Where the value is among what printf() is
 * to print, it decides what the program says, and the walk ends there with that answer; where it is
 * not, the walk goes on behind the call. The library's own code is not followed: the walk would end
 * at the first system call in it, behind which nothing is certain. The exception is a single
 * character, which the library copies to the stream's buffer whatever it is; that code is followed.
 */
#ifndef UNINIT_OUTPUT_H
#define UNINIT_OUTPUT_H

#include "insn/shadow.h"
#include "libc/c_output.h"

struct uninit_streams {
	/* Is that address one of the C library's own streams? What is printed to another one may go
	 * to memory of the program's (open_memstream()). */
	bool (*is_one)(void *context, uint64_t address);
	void *context;
	/* The walk has been in the library's code, which may have copied the value to a buffer. */
	bool followed;
};

/* `state` is at the function's first instruction. False: the call has to be followed instead. */
bool uninit_output(const struct c_output *function, const struct shadow_state *state,
		   const struct uninit_streams *streams, struct shadow_answer *answer);

#endif
