/* SPDX-License-Identifier: Apache-2.0 */
/* A library with blocks of its own. */
#include "mistakes.h"

void *library_make(size_t size);
void library_drop(void *block);
void library_set(char *block, size_t at);

void *library_make(size_t size)
{
	void *block = checked(malloc(hidden(size)));

	stay();
	return block;
}

void library_drop(void *block)
{
	free(block);
	stay();
}

void library_set(char *block, size_t at)
{
	((volatile char *)block)[at] = 0;
}
