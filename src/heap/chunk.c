/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/chunk.h"

#define WORD sizeof(uint64_t)
#define ALIGNMENT 16u
#define LEAST 32u	       /* bytes of a chunk */
#define MOST (64u << 20)       /* of what is looked at */
#define PREVIOUS_IN_USE 0x1ull /* flags: see malloc_chunk */
#define MAPPED 0x2ull
#define FLAGS 0x7ull

static bool read_word(const struct heap *heap, pid_t pid, uint64_t address, uint64_t *word)
{
	return heap->services->read(heap->host, pid, address, word, WORD) == (ssize_t)WORD;
}

static bool is_size(uint64_t head)
{
	uint64_t size = head & ~FLAGS;

	return size >= ALIGNMENT && size % ALIGNMENT == 0 && size <= MOST;
}

bool chunk_read(const struct heap *heap, pid_t pid, uint64_t block, struct chunk *chunk)
{
	uint64_t head, next;

	if (!block || block % ALIGNMENT || !read_word(heap, pid, block - WORD, &head))
		return false;
	if (head & MAPPED || !is_size(head) || (head & ~FLAGS) < LEAST)
		return false;
	chunk->size = head & ~FLAGS;
	/* The topmost chunk may be smaller or larger than any other: its flag alone is of use. */
	if (!read_word(heap, pid, block + chunk_usable(chunk), &next))
		return false;
	chunk->binned = !(next & PREVIOUS_IN_USE);
	return (next & ~FLAGS) % ALIGNMENT == 0;
}

/* One that is found whole in a bin may be larger by what is too little for another. */
bool chunk_suits(const struct chunk *chunk, uint64_t length)
{
	uint64_t size = (length + WORD + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);

	if (size < LEAST)
		size = LEAST;
	return !chunk->binned && chunk->size >= size && chunk->size - size <= ALIGNMENT;
}

bool chunk_is_filled(const struct heap *heap, pid_t pid, uint64_t block)
{
	uint64_t word;

	return read_word(heap, pid, block, &word) && word &&
	       word == (word & 0xff) * 0x0101010101010101ull;
}
