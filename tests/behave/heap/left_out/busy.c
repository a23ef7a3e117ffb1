/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy PAIRS [malloc|moved]: one place allocates and frees so many blocks, and does nothing else;
 * another one allocates a single block, which is written past its end. `moved`: that one is a block
 * of the busy place, given another size.
 */
#include <stdlib.h>
#include <string.h>

#define KEPT 64
#define BLOCK 24

__attribute__((noinline)) static void spoil(volatile char *block)
{
	block[BLOCK] = 2;
}

static char *volatile kept[KEPT];

__attribute__((noinline)) static void work(long pairs)
{
	for (long i = 0; i < pairs; i++) {
		free(kept[i % KEPT]);
		kept[i % KEPT] = malloc(16 + (size_t)(i * 7 % 200));
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "";
	char *block;

	work(argc > 1 ? atol(argv[1]) : 0);
	if (strcmp(way, "moved") == 0) {
		block = realloc(kept[0], BLOCK);
		kept[0] = NULL;
	} else {
		block = malloc(BLOCK);
	}
	spoil(block);
	free(block);
	for (int i = 0; i < KEPT; i++)
		free(kept[i]);
	return 0;
}
