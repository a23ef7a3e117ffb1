/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory the arguments of a system call name, for the calls that programs hand buffers to.
 * Not arch_prctl(2), clone(2) and clone3(2), whose flags say what the others are.
 * Source: the manual pages, section 2; Linux, include/linux/syscalls.h.
 */
#ifndef BASE_CALL_ARGUMENTS_H
#define BASE_CALL_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#define CALL_ARGUMENTS 4 /* of memory, of one call, at most */
#define CALL_TIMESPEC 16 /* bytes, as the kernel has it */

enum call_extent {
	CALL_NONE,
	CALL_FIXED,    /* `size` bytes */
	CALL_COUNTED,  /* argument number `count` times `size` */
	CALL_RETURNED, /* the same, but no more than the result times `size`; nothing if it failed
			*/
	CALL_VARIABLE, /* as many as the 32-bit word says that argument `count` points to */
	CALL_STRING,   /* up to the first NUL */
	CALL_VECTOR,   /* struct iovec[argument `count`], of which the result's bytes are touched */
	CALL_MESSAGE,  /* struct msghdr, likewise */
	CALL_BITS,     /* one bit each of argument `count`, in longs */
};

/* One memory argument. `pointer` and `count` are argument numbers. */
struct call_argument {
	uint8_t extent;
	uint8_t pointer;
	uint8_t access; /* TL_READ where the kernel reads the memory, TL_WRITE where it writes */
	uint8_t count;
	uint16_t size;
};

/* CALL_ARGUMENTS of them; NULL: the call is not known. Async-signal-safe, as the rest. */
const struct call_argument *call_arguments(uint64_t number);

/* Does the call touch what this argument of it points to? `argument`: all six; `result`: the raw
 * one, INT64_MAX of a call that is yet to be made. False also where neither tells. */
bool call_argument_is_used(uint64_t number, const struct call_argument *memory,
			   const uint64_t argument[], int64_t result);

/* Bytes at `address` that CALL_VARIABLE names, by `told`, the word at `count`. The kernel tells
 * there how much it had, which may be more than there was room for: what it wrote ends before the
 * word. */
uint64_t call_variable_length(uint64_t address, uint64_t count, uint32_t told);

#endif
