/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc's allocation functions, in the library that is preloaded only when blocks of the heap are
 * watched. Each does what the next one in line does; where the controller asked for blocks of that
 * size, or watches the block that is freed, it is told before the program goes on.
 */
#include "agent/state.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void (*free)(void *);
} next;

/* Prototypes that libc's headers may hide. */
TL_API void *memalign(size_t alignment, size_t size);

/*
 * What is allocated while dlsym() looks for the real functions. It is never given back; glibc's
 * needs it for an error message alone.
 */
#define EARLY_BYTES 16384
static _Alignas(16) char early[EARLY_BYTES];
static _Atomic size_t early_used;

static void *allocate_early(size_t size)
{
	size_t at = atomic_fetch_add(&early_used, (size + 15) & ~(size_t)15);

	return size < EARLY_BYTES && at + size <= EARLY_BYTES ? early + at : NULL;
}

static bool is_early(const void *block)
{
	return (const char *)block >= early && (const char *)block < early + EARLY_BYTES;
}

#define RESOLVE(function) next.function = (__typeof__(next.function))dlsym(RTLD_NEXT, #function)

/* False while the answer is not known: this thread is asking. */
static bool resolved(void)
{
	static __thread bool asking __attribute__((tls_model("initial-exec")));

	if (__atomic_load_n(&next.free, __ATOMIC_ACQUIRE))
		return true;
	if (asking)
		return false;
	asking = true;
	RESOLVE(malloc);
	RESOLVE(calloc);
	RESOLVE(realloc);
	RESOLVE(memalign);
	RESOLVE(posix_memalign);
	__atomic_store_n(&next.free, (void (*)(void *))dlsym(RTLD_NEXT, "free"), __ATOMIC_RELEASE);
	asking = false;
	return true;
}

/* ------------------------------------------------------------------------------------------- */
/* What is told */

static bool is_wanted(size_t size)
{
	struct area_process *process = agent_state.process;
	uint32_t sizes;

	if (!process || !size)
		return false;
	sizes = atomic_load_explicit(&process->heap.sizes, memory_order_relaxed);
	for (uint32_t i = 0; i < sizes && i < AREA_SIZES; i++)
		if (atomic_load_explicit(&process->heap.size[i], memory_order_relaxed) == size)
			return true;
	return false;
}

static bool is_watched(const void *block)
{
	struct area_process *process = agent_state.process;
	uint32_t blocks;

	if (!process || !block)
		return false;
	blocks = atomic_load_explicit(&process->heap.blocks, memory_order_relaxed);
	for (uint32_t i = 0; i < blocks && i < AREA_BLOCKS; i++)
		if (atomic_load_explicit(&process->heap.block[i], memory_order_relaxed) ==
		    (uintptr_t)block)
			return true;
	return false;
}

/* `frame`: where the allocation function was entered with, by the frame pointer we are built
 * with: the caller's, the return address, the caller's stack pointer. */
static __attribute__((noinline)) void tell(uint32_t kind, void *block, size_t size,
					   const uint64_t *frame)
{
	struct area_registers registers = {0};
	int saved_errno = errno;

	registers.pc = frame[1] - 1; /* within the call */
	registers.general[4] = (uintptr_t)(frame + 2);
	registers.general[5] = frame[0];
	agent_notice(kind, (uintptr_t)block, size, &registers);
	errno = saved_errno;
}

#define ENTRY ((const uint64_t *)__builtin_frame_address(0))
#define TELL_ALLOCATED(block, size)                               \
	do {                                                      \
		if ((block) && is_wanted(size))                   \
			tell(AREA_HIT_BLOCK, block, size, ENTRY); \
	} while (0)
#define TELL_FREED(block)                                      \
	do {                                                   \
		if (is_watched(block))                         \
			tell(AREA_HIT_FREED, block, 0, ENTRY); \
	} while (0)

/* ------------------------------------------------------------------------------------------- */
/* In libc's place */

TL_API void *malloc(size_t size)
{
	void *block = resolved() ? next.malloc(size) : allocate_early(size);

	TELL_ALLOCATED(block, size);
	return block;
}

TL_API void *calloc(size_t count, size_t each)
{
	void *block = resolved() ? next.calloc(count, each) : allocate_early(count * each);

	TELL_ALLOCATED(block, count * each);
	return block;
}

TL_API void free(void *block)
{
	if (is_early(block))
		return;
	TELL_FREED(block);
	if (block && resolved())
		next.free(block);
}

/* Whatever moves: the old block is one no longer, the new one a block allocated here. */
TL_API void *realloc(void *block, size_t size)
{
	void *moved;

	if (is_early(block) || !resolved()) {
		moved = resolved() ? next.malloc(size) : allocate_early(size);
		if (moved && block) {
			size_t there = (size_t)(early + EARLY_BYTES - (char *)block);

			memmove(moved, block, size < there ? size : there);
		}
		return moved;
	}
	TELL_FREED(block);
	moved = next.realloc(block, size);
	TELL_ALLOCATED(moved, size);
	return moved;
}

TL_API void *reallocarray(void *block, size_t count, size_t each)
{
	size_t size;
	void *moved;

	if (__builtin_mul_overflow(count, each, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	if (is_early(block) || !resolved())
		return realloc(block, size);
	TELL_FREED(block);
	moved = next.realloc(block, size);
	TELL_ALLOCATED(moved, size);
	return moved;
}

TL_API void *memalign(size_t alignment, size_t size)
{
	void *block = resolved() ? next.memalign(alignment, size) : NULL;

	TELL_ALLOCATED(block, size);
	return block;
}

TL_API void *aligned_alloc(size_t alignment, size_t size)
{
	void *block = resolved() ? next.memalign(alignment, size) : NULL;

	TELL_ALLOCATED(block, size);
	return block;
}

TL_API int posix_memalign(void **block, size_t alignment, size_t size)
{
	int err = resolved() ? next.posix_memalign(block, alignment, size) : ENOMEM;

	if (!err)
		TELL_ALLOCATED(*block, size);
	return err;
}
