/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of glibc's malloc() as they are in a process (libc/malloc_chunk.h). */
#ifndef HEAP_CHUNK_H
#define HEAP_CHUNK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct heap;

struct chunk {
	uint64_t size; /* of the chunk; the block is 8 bytes shorter */
	bool binned;   /* free, and in a bin: the next chunk says so */
};

/* The chunk of a block. False: there is none of glibc's, as far as can be seen, or it has a mapping
 * of its own, which goes when it is freed. */
bool chunk_read(const struct heap *heap, pid_t pid, uint64_t block, struct chunk *chunk);

/* Is it what malloc() makes for so many bytes? */
bool chunk_suits(const struct chunk *chunk, uint64_t length);

/* Is the block's first word filled with one byte, as free() fills blocks before it does anything
 * with them where the user has asked for that (MALLOC_PERTURB_, mallopt(3))? No link looks so. */
bool chunk_is_filled(const struct heap *heap, pid_t pid, uint64_t block);

static inline uint64_t chunk_usable(const struct chunk *chunk)
{
	return chunk->size - sizeof(uint64_t);
}

#endif
