/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rare: one allocation of 100,000 is written past its end, once, beside so many others that what
 * guarding may cost is spent on these.
 * rare after|before: the same, past or before it, when the same call has allocated two more
 * blocks that stay right.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 24
#define ODD_BLOCK 41
#define OTHERS 50000 /* before it, and after it */
#define KEPT 64

__attribute__((noinline)) static char *make(size_t size)
{
	return malloc(size);
}

__attribute__((noinline)) static void spoil(volatile char *block, long offset)
{
	block[offset] = 2;
}

__attribute__((noinline)) static void work(void)
{
	static char *kept[KEPT];

	for (int i = 0; i < OTHERS; i++) {
		free(kept[i % KEPT]);
		kept[i % KEPT] = i % 3 == 0 ? malloc(16) : i % 3 == 1 ? calloc(1, 40) : malloc(100);
	}
	for (int i = 0; i < KEPT; i++) {
		free(kept[i]);
		kept[i] = NULL;
	}
}

/* The first of three, when the others are there. */
static void spoil_one_of_three(long offset)
{
	char *block[3];

	for (int i = 0; i < 3; i++)
		block[i] = make(ODD_BLOCK);
	spoil(block[0], offset);
	for (int i = 0; i < 3; i++)
		free(block[i]);
}

static void spoil_one(void)
{
	char *block = make(BLOCK);

	spoil(block, BLOCK);
	free(block);
}

int main(int argc, char **argv)
{
	work();
	if (argc < 2)
		spoil_one();
	else
		spoil_one_of_three(strcmp(argv[1], "before") == 0 ? -1 : ODD_BLOCK);
	work();
	usleep(100000);
	return 0;
}
