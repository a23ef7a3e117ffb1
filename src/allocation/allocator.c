/* SPDX-License-Identifier: Apache-2.0 */
#include "allocation/allocator.h"

#include <dlfcn.h>
#include <stdatomic.h>

#define EARLY_BYTES 16384

struct allocator allocator;

static _Alignas(16) char early[EARLY_BYTES];
static _Atomic size_t early_used;

void *allocator_early(size_t size)
{
	size_t at = atomic_fetch_add(&early_used, (size + 15) & ~(size_t)15);

	return size < EARLY_BYTES && at + size <= EARLY_BYTES ? early + at : NULL;
}

bool allocator_is_early(const void *block)
{
	return (const char *)block >= early && (const char *)block < early + EARLY_BYTES;
}

bool allocator_has_early(void)
{
	return atomic_load_explicit(&early_used, memory_order_relaxed);
}

size_t allocator_early_rest(const void *block)
{
	return (size_t)(early + EARLY_BYTES - (const char *)block);
}

#define FIND(function, name) \
	allocator.function = (__typeof__(allocator.function))dlsym(RTLD_NEXT, name)

bool allocator_is_found(void)
{
	static __thread bool asking __attribute__((tls_model("initial-exec")));

	if (__atomic_load_n(&allocator.free, __ATOMIC_ACQUIRE))
		return true;
	if (asking)
		return false;
	asking = true;
	FIND(malloc, "malloc");
	FIND(calloc, "calloc");
	FIND(realloc, "realloc");
	FIND(memalign, "memalign");
	FIND(aligned_alloc, "aligned_alloc");
	FIND(posix_memalign, "posix_memalign");
	FIND(usable_size, "malloc_usable_size");
	__atomic_store_n(&allocator.free, (void (*)(void *))dlsym(RTLD_NEXT, "free"),
			 __ATOMIC_RELEASE);
	asking = false;
	return true;
}
