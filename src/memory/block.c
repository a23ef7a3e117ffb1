/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glibc's heap (malloc/malloc.c, "malloc_chunk"; the same since 2.3):
 *
 *	chunk + 0	size of the previous chunk, or the end of that one's memory
 *	chunk + 8	size of this chunk, a multiple of 16, and three flags
 *	chunk + 16	what malloc() returned; it reaches 8 bytes into the next chunk
 *
 * Flags: 1, the previous chunk is in use; 2, a mapping of its own; 4, not of the main arena.
 *
 * Chunks follow each other from the beginning of the heap: of [heap], of an arena's heap, which is
 * aligned to 64 MiB and begins with two structures, or of a mapping that is one chunk.
 */
#include "memory/block.h"

#define HEADER 16u
#define SMALLEST 32u
#define FLAGS 7u
#define PREVIOUS_IN_USE 1u
#define MAPPED 2u
#define OTHER_ARENA 4u
#define ARENA_ALIGNMENT (64u << 20)
#define ARENA_HEAD 4096u   /* heap_info and malloc_state are within so many bytes */
#define CACHE_CHUNK 0x290u /* the first of each arena: tcache_perthread_struct, glibc >= 2.30 */
#define CHUNKS_MAX 300000u
#define WINDOW 4096u

struct walk {
	const struct symbol_memory *memory;
	uint64_t end;
	uint64_t window; /* address of `bytes`; 0: none */
	uint64_t words[WINDOW / 8];
};

static bool read_word(struct walk *walk, uint64_t address, uint64_t *word)
{
	uint64_t window = address & ~(uint64_t)(WINDOW - 1);

	if (window != walk->window) {
		walk->window = 0;
		if (symbol_memory_read(walk->memory, window, walk->words, WINDOW))
			return false;
		walk->window = window;
	}
	*word = walk->words[(address - window) / 8];
	return true;
}

/* The size word of a chunk that can be one. */
static bool read_chunk(struct walk *walk, uint64_t chunk, uint64_t *size, unsigned *flags)
{
	uint64_t word;

	if (chunk % HEADER || !read_word(walk, chunk + 8, &word))
		return false;
	*size = word & ~(uint64_t)FLAGS;
	*flags = word & FLAGS;
	return *size >= SMALLEST && *size % HEADER == 0 && *size <= walk->end - chunk;
}

static bool take_block(uint64_t chunk, uint64_t usable, uint64_t address,
		       struct symbol_block *block)
{
	block->address = chunk + HEADER;
	block->size = usable;
	return address >= block->address && address - block->address < usable;
}

static bool walk_chunks(struct walk *walk, uint64_t chunk, unsigned arena, uint64_t address,
			struct symbol_block *block)
{
	for (unsigned i = 0; i < CHUNKS_MAX; i++) {
		uint64_t size, next_size;
		unsigned flags, next_flags;

		if (!read_chunk(walk, chunk, &size, &flags) || (flags & MAPPED) ||
		    (flags & OTHER_ARENA) != arena)
			return false;
		if (address >= chunk + size + 8) {
			chunk += size;
			continue;
		}
		/* The last chunk is what has not been given out yet. */
		if (!read_chunk(walk, chunk + size, &next_size, &next_flags) ||
		    !(next_flags & PREVIOUS_IN_USE))
			return false;
		return take_block(chunk, size - 8, address, block);
	}
	return false;
}

static bool find_mapped(struct walk *walk, uint64_t chunk, uint64_t address,
			struct symbol_block *block)
{
	uint64_t size;
	unsigned flags;

	while (chunk < walk->end && read_chunk(walk, chunk, &size, &flags) && flags == MAPPED &&
	       size % WINDOW == 0) {
		if (address < chunk + size)
			return take_block(chunk, size - HEADER, address, block);
		chunk += size;
	}
	return false;
}

/* The first chunk of an arena is the cache of the thread that made it. */
static bool find_in_arena(struct walk *walk, uint64_t start, uint64_t address,
			  struct symbol_block *block)
{
	for (uint64_t chunk = start + HEADER; chunk < start + ARENA_HEAD; chunk += HEADER) {
		uint64_t word;

		if (!read_word(walk, chunk + 8, &word))
			return false;
		if (word == (CACHE_CHUNK | PREVIOUS_IN_USE | OTHER_ARENA))
			return walk_chunks(walk, chunk, OTHER_ARENA, address, block);
	}
	return false;
}

bool symbol_block_find(const struct symbol_memory *memory, const struct symbol_mapping *mapping,
		       uint64_t address, struct symbol_block *block)
{
	struct walk walk = {.memory = memory, .end = mapping->end};

	if (!memory || !memory->read)
		return false;
	if (mapping->use == SYMBOL_MAPPING_BREAK)
		return walk_chunks(&walk, mapping->start, 0, address, block);
	if (mapping->use != SYMBOL_MAPPING_ANONYMOUS)
		return false;
	if (mapping->start % ARENA_ALIGNMENT == 0 &&
	    find_in_arena(&walk, mapping->start, address, block))
		return true;
	return find_mapped(&walk, mapping->start, address, block);
}
