/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/chunk.h"

#include "heap/state.h"

#include "libc/malloc_chunk.h"

#define WORD MALLOC_CHUNK_WORD
#define MOST (64u << 20) /* bytes of a chunk that is looked at */

static bool read_word(const struct heap *heap, pid_t pid, uint64_t address, uint64_t *word)
{
	return heap->services->read(heap->host, pid, address, word, WORD) == (ssize_t)WORD;
}

static bool is_size(uint64_t head)
{
	uint64_t size = head & ~MALLOC_CHUNK_FLAGS;

	return size >= MALLOC_CHUNK_ALIGNMENT && size % MALLOC_CHUNK_ALIGNMENT == 0 && size <= MOST;
}

bool chunk_read(const struct heap *heap, pid_t pid, uint64_t block, struct chunk *chunk)
{
	uint64_t head, next;

	if (!block || block % MALLOC_CHUNK_ALIGNMENT || !read_word(heap, pid, block - WORD, &head))
		return false;
	if (head & MALLOC_CHUNK_MAPPED || !is_size(head) ||
	    (head & ~MALLOC_CHUNK_FLAGS) < MALLOC_CHUNK_LEAST)
		return false;
	chunk->size = head & ~MALLOC_CHUNK_FLAGS;
	/* The topmost chunk may be smaller or larger than any other: its flag alone is of use. */
	if (!read_word(heap, pid, block + chunk_usable(chunk), &next))
		return false;
	chunk->binned = !(next & MALLOC_CHUNK_PREVIOUS_IN_USE);
	return (next & ~MALLOC_CHUNK_FLAGS) % MALLOC_CHUNK_ALIGNMENT == 0;
}

bool chunk_suits(const struct chunk *chunk, uint64_t length)
{
	return !chunk->binned && malloc_chunk_suits(chunk->size, length);
}

bool chunk_is_filled(const struct heap *heap, pid_t pid, uint64_t block)
{
	uint64_t word;

	return read_word(heap, pid, block, &word) && word &&
	       word == (word & 0xff) * 0x0101010101010101ull;
}
