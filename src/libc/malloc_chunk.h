/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What glibc's malloc() keeps beside a block (malloc/malloc.c, "malloc_chunk"): the word before it
 * has the size of its chunk and flags; the word behind it is that of the next chunk.
 *
 *	block - 16		size of the chunk before this one, while that is free
 *	block - 8		size of this chunk, a multiple of 16, and flags
 *	block			the program's; while the chunk is free, links of its lists
 *	block + size - 8	the next chunk's size and flags
 */
#ifndef LIBC_MALLOC_CHUNK_H
#define LIBC_MALLOC_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#define MALLOC_CHUNK_WORD 8u
#define MALLOC_CHUNK_ALIGNMENT 16u
#define MALLOC_CHUNK_LEAST 32u /* bytes of a chunk */
/* Flags. The first is clear while the chunk before this one is in a bin; a chunk with the second
 * has a mapping of its own, of whole pages. */
#define MALLOC_CHUNK_PREVIOUS_IN_USE 0x1ull
#define MALLOC_CHUNK_MAPPED 0x2ull
#define MALLOC_CHUNK_FLAGS 0x7ull

/* Is a chunk of so many bytes, without a mapping of its own, what malloc() makes of `asked`? One
 * that is found whole in a bin may be larger by what is too little for another. */
static inline bool malloc_chunk_suits(uint64_t size, uint64_t asked)
{
	uint64_t least = (asked + MALLOC_CHUNK_WORD + MALLOC_CHUNK_ALIGNMENT - 1) &
			 ~(uint64_t)(MALLOC_CHUNK_ALIGNMENT - 1);

	if (least < MALLOC_CHUNK_LEAST)
		least = MALLOC_CHUNK_LEAST;
	return size % MALLOC_CHUNK_ALIGNMENT == 0 && size >= least &&
	       size - least <= MALLOC_CHUNK_ALIGNMENT;
}

#endif
