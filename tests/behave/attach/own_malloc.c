/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that is not glibc's: lists of free blocks of each power of two, under one lock. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define LEAST 6	  /* bits of the smallest block, its header included */
#define MOST 24	  /* of the largest */
#define HEADER 16 /* before a block: its class, and how far below it the whole of it begins */
#define CHUNK ((size_t)1 << MOST)

struct header {
	uint32_t bits, behind;
	uint64_t unused;
};

struct free_block {
	struct free_block *next;
};

static struct free_block *list[MOST + 1];
static char *fresh;
static size_t left;
static int lock;

static void begin(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		;
}

static void end(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static void *cut(size_t size)
{
	void *cut;

	if (left < size) {
		fresh = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		left = fresh == MAP_FAILED ? 0 : CHUNK;
	}
	if (left < size)
		return NULL;
	cut = fresh;
	fresh += size;
	left -= size;
	return cut;
}

static struct header *header_of(void *block)
{
	return (struct header *)block - 1;
}

void *memalign(size_t alignment, size_t size)
{
	uint32_t bits = LEAST;
	struct free_block *whole;
	uintptr_t block;

	while (bits < MOST && ((size_t)1 << bits) < size + alignment + HEADER)
		bits++;
	if (((size_t)1 << bits) < size + alignment + HEADER)
		return NULL;
	begin();
	whole = list[bits];
	if (whole)
		list[bits] = whole->next;
	else
		whole = cut((size_t)1 << bits);
	end();
	if (!whole)
		return NULL;
	block = ((uintptr_t)whole + HEADER + alignment - 1) / alignment * alignment;
	*header_of((void *)block) =
		(struct header){.bits = bits, .behind = (uint32_t)(block - (uintptr_t)whole)};
	return (void *)block;
}

void *malloc(size_t size)
{
	return memalign(16, size);
}

void free(void *block)
{
	struct free_block *whole;
	uint32_t bits;

	if (!block)
		return;
	bits = header_of(block)->bits;
	whole = (struct free_block *)((char *)block - header_of(block)->behind);
	begin();
	whole->next = list[bits];
	list[bits] = whole;
	end();
}

size_t malloc_usable_size(void *block)
{
	return block ? ((size_t)1 << header_of(block)->bits) - header_of(block)->behind : 0;
}

void *calloc(size_t count, size_t size)
{
	void *block = malloc(count * size);

	return block ? memset(block, 0, count * size) : NULL;
}

void *realloc(void *block, size_t size)
{
	size_t had = malloc_usable_size(block);
	void *other;

	if (block && size <= had)
		return block;
	other = malloc(size);
	if (other && block) {
		memcpy(other, block, had);
		free(block);
	}
	return other;
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
