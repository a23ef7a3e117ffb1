/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc's allocation functions, in the library that is preloaded where blocks of the heap are
 * watched, or remembered. Each does what the next one in line does; where the controller asked for
 * blocks of that size, or watches the block that is freed, it is told before the program goes on.
 */
#include "agent/allocation.h"
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

/* `frame` begins with what the function's first instruction saves: the caller's frame pointer; next
 * to it is the return address. */
static inline struct allocation_caller caller_of(const uint64_t *frame)
{
	return (struct allocation_caller){
		.pc = frame[1], .stack_pointer = (uintptr_t)(frame + 2), .frame_pointer = frame[0]};
}

#define CALLER caller_of(__builtin_frame_address(0))

static __attribute__((noinline)) void tell(uint32_t kind, void *block, size_t size,
					   struct allocation_caller caller)
{
	struct area_registers registers = {0};
	int saved_errno = errno;

	registers.pc = caller.pc - 1; /* within the call */
	registers.general[4] = caller.stack_pointer;
	registers.general[5] = caller.frame_pointer;
	agent_notice(kind, (uintptr_t)block, size, &registers);
	errno = saved_errno;
}

static void free_rarely(void *block);
/* What becomes of a block that is not remembered. */
static void (*_Atomic free_usually)(void *) = free_rarely;

/* Nothing is watched in a program whose blocks are remembered: the controller does one or the
 * other. */
static void settle_free(void)
{
	if (agent_state.area && agent_state.area->allocations.on && resolved() &&
	    !atomic_load_explicit(&early_used, memory_order_relaxed))
		atomic_store_explicit(&free_usually, next.free, memory_order_relaxed);
}

static void *allocated(void *block, size_t size, struct allocation_caller caller)
{
	settle_free();
	if (block && is_wanted(size))
		tell(AREA_HIT_BLOCK, block, size, caller);
	allocation_consider(block, size, caller);
	return block;
}

static void freed(void *block, struct allocation_caller caller)
{
	if (is_watched(block))
		tell(AREA_HIT_FREED, block, 0, caller);
	if (allocation_is_known(block))
		allocation_release(block, caller);
}

/* ------------------------------------------------------------------------------------------- */
/* In libc's place. What is usual goes straight on to libc's own; the rest is done by a function
 * that takes the place of the one called. */

#define RARE static __attribute__((noinline, cold))

RARE void *allocate_rarely(size_t size)
{
	return allocated(resolved() ? next.malloc(size) : allocate_early(size), size, CALLER);
}

TL_API void *malloc(size_t size)
{
	return allocation_is_due(size) ? allocate_rarely(size) : next.malloc(size);
}

/* Early memory is zero. */
RARE void *allocate_zeroed_rarely(size_t count, size_t each)
{
	return allocated(resolved() ? next.calloc(count, each) : allocate_early(count * each),
			 count * each, CALLER);
}

TL_API void *calloc(size_t count, size_t each)
{
	return allocation_is_due(count * each) ? allocate_zeroed_rarely(count, each)
					       : next.calloc(count, each);
}

static __attribute__((noinline)) void free_rarely(void *block)
{
	if (is_early(block))
		return;
	freed(block, CALLER);
	if (block && resolved())
		next.free(block);
}

TL_API void free(void *block)
{
	if (allocation_is_known(block))
		free_rarely(block);
	else
		atomic_load_explicit(&free_usually, memory_order_relaxed)(block);
}

/* Whatever moves: the old block is one no longer, the new one a block allocated here. */
static void *resize(void *block, size_t size, struct allocation_caller caller)
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
	freed(block, caller);
	moved = next.realloc(block, size);
	if (block && (moved == block || (!moved && size)))
		allocation_forget_release(block);
	if (allocation_is_due(size))
		allocated(moved, size, caller);
	return moved;
}

TL_API void *realloc(void *block, size_t size)
{
	return resize(block, size, CALLER);
}

TL_API void *reallocarray(void *block, size_t count, size_t each)
{
	size_t size;

	if (__builtin_mul_overflow(count, each, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(block, size, CALLER);
}

TL_API void *memalign(size_t alignment, size_t size)
{
	void *block = resolved() ? next.memalign(alignment, size) : NULL;

	return allocation_is_due(size) ? allocated(block, size, CALLER) : block;
}

TL_API void *aligned_alloc(size_t alignment, size_t size)
{
	void *block = resolved() ? next.memalign(alignment, size) : NULL;

	return allocation_is_due(size) ? allocated(block, size, CALLER) : block;
}

TL_API int posix_memalign(void **block, size_t alignment, size_t size)
{
	int err = resolved() ? next.posix_memalign(block, alignment, size) : ENOMEM;

	if (!err && allocation_is_due(size))
		allocated(*block, size, CALLER);
	return err;
}
