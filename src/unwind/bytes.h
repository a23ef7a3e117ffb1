/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading numbers from bytes that somebody else wrote. A read past the end gives 0 and sets
 * `failed`, which stays set: callers check once, after a group of reads.
 */
#ifndef UNWIND_BYTES_H
#define UNWIND_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	const uint8_t *start;
	size_t length;
	uint64_t address; /* that start[0] has when the code runs */
	size_t at;
	bool failed;
};

/* Pointer encodings (Linux Standard Base, "DWARF Exception Header Encoding"). */
#define POINTER_FORMAT 0x0f
#define POINTER_BASE 0x70
#define POINTER_INDIRECT 0x80
#define POINTER_ABSOLUTE 0x00
#define POINTER_OMITTED 0xff
#define POINTER_DATA_RELATIVE_SIGNED_4 0x3b

uint64_t bytes_unsigned(struct bytes *bytes, size_t size); /* 1, 2, 4 or 8 bytes, little endian */
int64_t bytes_signed(struct bytes *bytes, size_t size);
uint64_t bytes_uleb128(struct bytes *bytes);
int64_t bytes_sleb128(struct bytes *bytes);
void bytes_skip(struct bytes *bytes, uint64_t count);
/* The pointer itself; an indirect one is not followed. `data` is the base of data-relative ones. */
uint64_t bytes_pointer(struct bytes *bytes, uint8_t encoding, uint64_t data);

#endif
