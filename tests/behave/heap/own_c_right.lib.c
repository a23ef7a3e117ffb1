/* SPDX-License-Identifier: Apache-2.0 */
/* glibc's, but for aligned_alloc(), and with what C has since 2023. */
#include <errno.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t each);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

void *malloc(size_t size)
{
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t each)
{
	return __libc_calloc(count, each);
}

void *realloc(void *block, size_t size)
{
	return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
	return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	if (alignment && !(alignment & (alignment - 1)))
		return __libc_memalign(alignment, size);
	errno = EINVAL;
	return NULL;
}

void free(void *block)
{
	__libc_free(block);
}

void free_sized(void *block, size_t size)
{
	(void)size;
	__libc_free(block);
}

void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment, (void)size;
	__libc_free(block);
}
