/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frees of what is no block, frees twice, and uses of what realloc() has moved. A bare glibc looks
 * at the size in front of what it is to free, so each place has a fitting one; and it notices a
 * block that is freed twice in a row, so another of that size is freed, or allocated, between.
 */
#include "mistakes.h"

#define SIZE 48
#define CACHED                                                                            \
	7 /* blocks of a size that glibc keeps for a thread without looking at the others \
	   */

static NOINLINE void *allocate_block(size_t size)
{
	void *block = checked(malloc(hidden(size)));

	stay();
	return block;
}

static NOINLINE void free_block(void *block)
{
	free(block);
	stay();
}

static NOINLINE void free_again(void *block)
{
	free(block);
	stay();
}

static NOINLINE void fill_cache(size_t size)
{
	void *blocks[CACHED];

	for (int i = 0; i < CACHED; i++)
		blocks[i] = checked(hidden(malloc(size)));
	for (int i = 0; i < CACHED; i++)
		free(blocks[i]);
}

static void double_free(void)
{
	void *block, *other;

	fill_cache(SIZE);
	/* Of the cache, so that those freed now do not go there. */
	block = allocate_block(SIZE);
	other = hidden(malloc(SIZE));
	fill_cache(SIZE);
	free_block(hidden(block));
	free(other);
	free_again(hidden(block));
}

/* Bare, the second free is of the new block, which has taken the old one's place. */
static void double_free_of(size_t size)
{
	char *block = allocate_block(size), *other;

	memset(checked(hidden(malloc(size))), 1, 1);
	free_block(hidden(block));
	other = checked(hidden(malloc(size)));
	memset(other, 1, 32);
	free_again(hidden(block));
}

static void double_free_reused(void)
{
	double_free_of(100);
}

static void double_free_8k(void)
{
	double_free_of(8192);
}

static void double_free_4m(void)
{
	keep_large_blocks_mapped();
	double_free_of(4 << 20);
}

static NOINLINE void *free_there(void *block)
{
	free_again(block);
	return NULL;
}

/* The other thread has a cache of its own, which does not know the block. */
static void double_free_in_thread(void)
{
	void *block;

	fill_cache(SIZE);
	block = allocate_block(SIZE);
	free_block(hidden(block));
	in_thread(free_there, hidden(block));
}

static void *freed_before[2];

static void free_before_the_end(void)
{
	free_again(freed_before[0]);
}

/* The process is gone right after it. */
static void double_free_at_exit(void)
{
	fill_cache(SIZE);
	freed_before[0] = allocate_block(SIZE);
	freed_before[1] = hidden(malloc(SIZE));
	fill_cache(SIZE);
	free_block(hidden(freed_before[0]));
	free(freed_before[1]);
	atexit(free_before_the_end);
}

/* A place that a bare glibc takes for a block of `size` bytes. */
static void *disguise(void *at, size_t size)
{
	uint64_t *words = at;

	words[1] = size + 17;
	return hidden((void *)&words[2]);
}

static void free_inside(void)
{
	char *block = allocate_block(256);

	free_again(disguise(block + 48, 96));
}

static void free_stack(void)
{
	char buffer[256] __attribute__((aligned(16)));

	free_again(disguise(hidden(&buffer[0]), 112));
}

/* Deep enough that what free() itself calls does not reach it. */
static NOINLINE void *leave_frame(void)
{
	char buffer[16384] __attribute__((aligned(16)));
	void *block = disguise(hidden(&buffer[0]), 112);

	stay();
	return block;
}

static void free_left_frame(void)
{
	free_again(leave_frame());
}

/* Bare, the thread's cache has the place by then, and gives it out again before the thread ends. */
static NOINLINE void *free_in_frame(void *unused)
{
	(void)unused;
	free(checked(hidden(malloc(SIZE))));
	free_left_frame();
	checked(hidden(malloc(112)));
	return NULL;
}

static void free_left_frame_in_thread(void)
{
	in_thread(free_in_frame, NULL);
}

static char buffer_of_program[256] __attribute__((aligned(16)));

static void free_global(void)
{
	free_again(disguise(buffer_of_program, 112));
}

static NOINLINE void *grow(void *block, size_t size)
{
	void *grown = checked(realloc(block, hidden(size)));

	stay();
	return grown;
}

/* The same of what a bare realloc() makes room for where it is. */
static void *disguise_whole(void *at, size_t size)
{
	uint64_t *next = (uint64_t *)((char *)at + size + 16);

	next[1] = 49;
	return disguise(at, size);
}

static void realloc_stack(void)
{
	char buffer[256] __attribute__((aligned(16)));

	allocate_block(64); /* bare, it is the heap's size that is looked at */
	grow(disguise_whole(hidden(&buffer[0]), 112), 120);
}

static void realloc_inside(void)
{
	char *block = allocate_block(512);

	grow(disguise_whole(block + 48, 96), 104);
}

static NOINLINE void use_old(char *old)
{
	*(volatile char *)(old + 20) = 1;
}

static NOINLINE int look_at_old(const char *old)
{
	return *(volatile const char *)(old + 150);
}

/* A neighbour that stays makes realloc() move the block. */
static void write_after_realloc(void)
{
	char *old = allocate_block(40), *neighbour = checked(hidden(malloc(40)));
	char *now = grow(hidden(old), 4000);

	use_old(hidden(old));
	free(now);
	(void)neighbour;
}

static void read_after_realloc(void)
{
	char *old = allocate_block(200), *neighbour = checked(hidden(malloc(200)));
	char *now;

	memset(old, 7, 200);
	now = grow(hidden(old), 100000);
	look_at_old(hidden(old));
	free(now);
	(void)neighbour;
}

static void double_free_after_realloc(void)
{
	char *old = allocate_block(56), *neighbour = checked(hidden(malloc(56))), *other;
	char *now = grow(hidden(old), 5000);

	other = checked(hidden(malloc(56)));
	memset(other, 1, 56);
	free_again(hidden(old));
	free(now);
	(void)neighbour;
}

/* calloc() and free() are a pair, realloc(p, 0) frees. */
static void double_free_after_realloc_to_nothing(void)
{
	void *block = allocate_block(72), *other;

	free_block(NULL);
	if (realloc(hidden(block), hidden((size_t)0)))
		exit(3);
	other = checked(hidden(malloc(72)));
	memset(other, 1, 72);
	free_again(hidden(block));
}

static const struct test_case cases[] = {
	{"double_free", double_free},
	{"double_free_reused", double_free_reused},
	{"double_free_8k", double_free_8k},
	{"double_free_4m", double_free_4m},
	{"double_free_in_thread", double_free_in_thread},
	{"double_free_at_exit", double_free_at_exit},
	{"free_inside", free_inside},
	{"free_stack", free_stack},
	{"free_left_frame", free_left_frame},
	{"free_left_frame_in_thread", free_left_frame_in_thread},
	{"free_global", free_global},
	{"realloc_stack", realloc_stack},
	{"realloc_inside", realloc_inside},
	{"write_after_realloc", write_after_realloc},
	{"read_after_realloc", read_after_realloc},
	{"double_free_after_realloc", double_free_after_realloc},
	{"double_free_after_realloc_to_nothing", double_free_after_realloc_to_nothing},
};

CASES_MAIN(cases)
