/* SPDX-License-Identifier: Apache-2.0 */
/* Frees a block again as it ends. Says its process id, and goes on when it can read something. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *block;

#ifdef __clang__
#define STAYS __attribute__((noinline))
#else
#define STAYS __attribute__((noinline, noclone))
#endif

STAYS static void *allocate_block(void)
{
	return malloc(48);
}

STAYS static void free_block(void)
{
	void *freed = block;

	__asm__ volatile("" : "+r"(freed));
	free(freed);
	__asm__ volatile("" : : : "memory");
}

STAYS static void free_again(void)
{
	free(block);
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	char byte;

	block = allocate_block();
	free_block();
	atexit(free_again);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	return read(0, &byte, 1) == 1 ? 0 : 1;
}
