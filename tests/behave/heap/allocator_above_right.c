/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator of the program's above malloc(), and functions of that name found by dlsym(). */
#include <dlfcn.h>
#include "mistakes.h"

#define CLASSES 8
#define SLAB 16384

struct chunk {
	struct chunk *next;
};

static struct chunk *available[CLASSES];
static char *slabs[256];
static int slab_count;

/* Blocks of 16, 32, … 2048 bytes, cut from slabs; a free one holds the list. */
static void *take(unsigned class)
{
	size_t size = (size_t)16 << class;
	struct chunk *chunk;

	if (!available[class]) {
		char *slab = checked(malloc(SLAB));

		slabs[slab_count++] = slab;
		for (size_t at = 0; at + size <= SLAB; at += size) {
			chunk = (struct chunk *)(slab + at);
			chunk->next = available[class];
			available[class] = chunk;
		}
	}
	chunk = available[class];
	available[class] = chunk->next;
	return chunk;
}

static void give(void *block, unsigned class)
{
	struct chunk *chunk = block;

	chunk->next = available[class];
	available[class] = chunk;
}

static void slabs_of_classes(void)
{
	void *held[500] = {NULL};
	unsigned classes[500];

	for (unsigned i = 0; i < 20000; i++) {
		unsigned slot = i * 7919 % 500;

		if (held[slot])
			give(held[slot], classes[slot]);
		classes[slot] = i % CLASSES;
		held[slot] = take(classes[slot]);
		memset(held[slot], (int)i, (size_t)16 << classes[slot]);
	}
	while (slab_count)
		free(slabs[--slab_count]);
}

static void by_address(void)
{
	void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
	void (*release)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "free");
	void *(*next_allocate)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	void (*next_release)(void *) = (void (*)(void *))dlsym(RTLD_NEXT, "free");

	for (int i = 1; i < 2000; i++) {
		release(memset(checked(allocate((size_t)i)), 1, (size_t)i));
		next_release(memset(checked(next_allocate((size_t)i)), 1, (size_t)i));
		free(memset(checked(allocate((size_t)i)), 1, (size_t)i));
	}
}

/* libc's own names behind the preloaded ones: what they allocate is freed by the ordinary free().
 */
extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

static void behind_the_names(void)
{
	for (size_t i = 1; i < 2000; i++) {
		free(memset(checked(hidden(__libc_malloc(i))), 1, i));
		__libc_free(memset(checked(hidden(__libc_malloc(i))), 1, i));
	}
}

static const struct test_case cases[] = {
	{"slabs_of_classes", slabs_of_classes},
	{"by_address", by_address},
	{"behind_the_names", behind_the_names},
};

CASES_MAIN(cases)
