/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the program maps where blocks were. */
#include <sys/mman.h>
#include "mistakes.h"

#define LARGE (1 << 20)
#define MAPPED (LARGE - 8192)

static char *freed_large(size_t alignment)
{
	uintptr_t block = (uintptr_t)checked(alignment ? aligned_alloc(alignment, LARGE)
						       : hidden(malloc(LARGE)));

	memset((void *)block, 1, LARGE);
	free((void *)block);
	return hidden((char *)((block + 4095) & ~(uintptr_t)4095));
}

/* What the program mapped stays, whatever becomes of the blocks that were there before. */
static void use_mapped(char *memory)
{
	require(memory[0] == 0 && memory[MAPPED - 1] == 0, "what was mapped");
	memset(memory, 7, MAPPED);
	for (int i = 0; i < 100; i++)
		free(memset(checked(hidden(malloc(LARGE))), 1, LARGE));
	for (size_t at = 0; at < MAPPED; at += 512)
		require(memory[at] == 7, "what was written");
	require(!munmap(memory, MAPPED), "munmap()");
}

static char *map_at(char *address, int flags)
{
	return mmap(address, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
		    -1, 0);
}

/* Bare, a large block is unmapped as it is freed, and the program may map what it likes there. */
static void mapped_over(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	for (size_t alignment = 0; alignment <= 4096; alignment += 4096) {
		char *there = freed_large(alignment), *elsewhere;

		require(map_at(there, MAP_FIXED) == there, "MAP_FIXED");
		use_mapped(there);
		there = freed_large(alignment);
		require(map_at(there, MAP_FIXED_NOREPLACE) == there, "MAP_FIXED_NOREPLACE");
		use_mapped(there);
		there = freed_large(alignment);
		require(!munmap(there, MAPPED) && map_at(there, 0) == there,
			"an address wished for");
		use_mapped(there);
		elsewhere = map_at(NULL, 0);
		there = freed_large(alignment);
		require(mremap(elsewhere, MAPPED, MAPPED, MREMAP_MAYMOVE | MREMAP_FIXED, there) ==
				there,
			"mremap()");
		use_mapped(there);
	}
}

static const struct test_case cases[] = {
	{"mapped_over", mapped_over},
};

CASES_MAIN(cases)
