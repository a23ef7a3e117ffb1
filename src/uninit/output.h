/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that print, as a walk of a value comes to them. What printf() is handed to print it prints:
 * that the value is among it decides what the program says, whatever the library does before it
 * comes to it, and where it is not, the walk goes on behind the call. To follow the library's own
 * code would end at the first system call that it makes, and behind that nothing is certain. That
 * is done for a single character, of which a copy goes to the stream's buffer, whatever it is.
 */
#ifndef UNINIT_OUTPUT_H
#define UNINIT_OUTPUT_H

#include "insn/shadow.h"
#include "libc/c_output.h"

struct uninit_streams {
	/* Is that address one of the C library's own? What is printed into other ones may be memory
	 * of the program's (open_memstream()). */
	bool (*is_one)(void *context, uint64_t address);
	void *context;
	/* The walk has been in the library's code, which may have copied the value to a buffer. */
	bool followed;
};

/* `state` is at the function's first instruction. False: it has to be followed. */
bool uninit_output(const struct c_output *function, const struct shadow_state *state,
		   const struct uninit_streams *streams, struct shadow_answer *answer);

#endif
