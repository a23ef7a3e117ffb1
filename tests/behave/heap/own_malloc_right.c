/* SPDX-License-Identifier: Apache-2.0 */
/* A program that defines malloc() itself: its own wins over what is preloaded. */
#include "mistakes.h"

static char memory[16 << 20] __attribute__((aligned(16)));
static size_t used;

static size_t *header_of(void *block)
{
	return (size_t *)block - 2;
}

void *malloc(size_t size)
{
	size_t rounded = (size + 31) & ~(size_t)15;
	size_t at = __atomic_fetch_add(&used, rounded, __ATOMIC_RELAXED);

	if (at + rounded > sizeof(memory))
		return NULL;
	*(size_t *)(memory + at) = size;
	return memory + at + 16;
}

/* Nothing is used again. */
void free(void *block)
{
	(void)block;
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}

void *realloc(void *block, size_t size)
{
	void *other = malloc(size);

	if (other && block)
		memcpy(other, block, *header_of(block) < size ? *header_of(block) : size);
	return other;
}

void *memalign(size_t alignment, size_t size)
{
	char *block = malloc(size + alignment);

	return block ? block + (alignment - (uintptr_t)block % alignment) % alignment : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = memalign(alignment, size);
	return *block ? 0 : ENOMEM;
}

static void used_everywhere(void)
{
	char *text = NULL;

	for (int i = 0; i < 1000; i++)
		free(memset(checked(hidden(malloc(200))), 1, 200));
	require(asprintf(&text, "%0100d", 5) == 100, "asprintf()");
	text = checked(realloc(text, 300));
	require(strlen(text) == 100, "realloc()");
	free(text);
	free(text); /* nothing to this allocator */
}

static const struct test_case cases[] = {{"used_everywhere", used_everywhere}};

CASES_MAIN(cases)
