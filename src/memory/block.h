/* SPDX-License-Identifier: Apache-2.0 */
/* The block of the heap around an address, from glibc's own headers of blocks. */
#ifndef MEMORY_BLOCK_H
#define MEMORY_BLOCK_H

#include "memory/mapping.h"
#include "memory/memory.h"

struct symbol_block {
	uint64_t address; /* what malloc() returned */
	uint64_t size;	  /* bytes that may be used there: what was asked for, rounded up */
};

/*
 * True when the headers from the heap's beginning lead to a block in use around `address`. Nothing
 * is claimed of another allocator's memory, whose beginning does not look like glibc's, nor of a
 * heap that is being changed just then.
 */
bool symbol_block_find(const struct symbol_memory *memory, const struct symbol_mapping *mapping,
		       uint64_t address, struct symbol_block *block);

#endif
