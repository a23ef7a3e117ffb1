/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One allocation of 100,000 is written past its end, once, beside so many others that what guarding
 * may cost is spent on these.
 */
#include <stdlib.h>
#include <unistd.h>

#define BLOCK 24
#define OTHERS 50000 /* before it, and after it */
#define KEPT 64

__attribute__((noinline)) static char *make(void)
{
	return malloc(BLOCK);
}

__attribute__((noinline)) static void spoil(volatile char *block)
{
	block[BLOCK] = 2;
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

int main(void)
{
	char *block;

	work();
	block = make();
	if (!block)
		return 1;
	spoil(block);
	free(block);
	work();
	usleep(100000);
	return 0;
}
