/* SPDX-License-Identifier: Apache-2.0 */
/* Whole pages straight from the kernel, for code that must not call malloc(). */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/syscall.h"

#include <sys/mman.h>

static inline void *page_map(size_t bytes, int sharing)
{
	long address = raw_syscall6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				    sharing | MAP_ANONYMOUS, -1, 0);

	return raw_failed(address) ? NULL : (void *)address;
}

/* Zeroed memory, or NULL. */
static inline void *page_allocate(size_t bytes)
{
	return page_map(bytes, MAP_PRIVATE);
}

/* The same, in which forked children see what their parent writes, and it what they write. */
static inline void *page_allocate_shared(size_t bytes)
{
	return page_map(bytes, MAP_SHARED);
}

static inline void page_free(void *address, size_t bytes)
{
	if (address)
		raw_syscall3(SYS_munmap, (long)address, (long)bytes, 0);
}

#endif
