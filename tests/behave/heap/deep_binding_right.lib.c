/* SPDX-License-Identifier: Apache-2.0 */
/* A library that gives back and resizes what others have allocated, and the contrary. */
#include "mistakes.h"

void *library_make(size_t size);
void *library_resize(void *block, size_t size);
void library_drop(void *block);

void *library_make(size_t size)
{
	return checked(malloc(size));
}

void *library_resize(void *block, size_t size)
{
	return checked(realloc(block, size));
}

void library_drop(void *block)
{
	free(block);
}
