/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator that the program would have without us: the next one in line. */
#ifndef ALLOCATION_ALLOCATOR_H
#define ALLOCATION_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>

struct allocator {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	size_t (*usable_size)(void *);
	void (*free)(void *);
};

extern struct allocator allocator;

/* False while it is not known: this thread is looking for it. */
bool allocator_is_found(void);

/* What is allocated while it is looked for, zeroed. It is never given back; glibc's dlsym() needs
 * it for an error message alone. NULL: there is no more. */
void *allocator_early(size_t size);
bool allocator_is_early(const void *block);
bool allocator_has_early(void);			/* was there any? */
size_t allocator_early_rest(const void *block); /* bytes from there on that may be read */

#endif
