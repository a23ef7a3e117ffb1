/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of one size from two functions: `heap BLOCKS` lets make() allocate BLOCKS times 48 bytes,
 * through a wrapper, and write two of its fields and one beyond; other() allocates as many of the
 * same size and writes them too. Each block is freed, and its memory used again by the next.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	volatile long id;
	volatile int state;
	char name[36];
};

static __attribute__((noinline)) void *allocate(size_t size)
{
	void *block = malloc(size);

	if (!block)
		abort();
	return block;
}

extern struct item *make(long id);
extern struct item *other(long id);

__attribute__((noinline)) struct item *make(long id)
{
	struct item *item = allocate(sizeof(*item));

	item->id = id; /* the id */
	item->state = 1;
	return item;
}

__attribute__((noinline)) struct item *other(long id)
{
	struct item *item = allocate(sizeof(*item));

	item->id = id;
	return item;
}

static __attribute__((noinline)) void finish(struct item *item)
{
	item->state = 2; /* the state */
}

static void *work(void *argument)
{
	int blocks = *(int *)argument;

	for (int i = 0; i < blocks; i++) {
		struct item *item = make(i), *unlike = other(i);

		finish(item);
		free(item);
		item = realloc(unlike, 2 * sizeof(*item));
		item->state = 3;
		free(item);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int blocks = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread;

	work(&blocks);
	pthread_create(&thread, NULL, work, &blocks);
	pthread_join(thread, NULL);
	puts("done");
	return 0;
}
