/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy PAIRS: one place allocates and frees so many blocks, and does nothing else; another one
 * allocates a single block, which is written past its end.
 */
#include <stdlib.h>

#define KEPT 64
#define BLOCK 24

__attribute__((noinline)) static void spoil(volatile char *block)
{
	block[BLOCK] = 2;
}

__attribute__((noinline)) static void work(long pairs)
{
	static char *volatile kept[KEPT];

	for (long i = 0; i < pairs; i++) {
		free(kept[i % KEPT]);
		kept[i % KEPT] = malloc(16 + (size_t)(i * 7 % 200));
	}
	for (int i = 0; i < KEPT; i++)
		free(kept[i]);
}

int main(int argc, char **argv)
{
	char *block;

	work(argc > 1 ? atol(argv[1]) : 0);
	block = malloc(BLOCK);
	spoil(block);
	free(block);
	return 0;
}
