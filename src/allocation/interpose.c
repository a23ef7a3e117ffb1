/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc's allocation functions, in the library that is preloaded where blocks of the heap are
 * watched, or remembered. Each does what the next one in line does; where the controller asked for
 * blocks of that size, or watches the block that is freed, it is told before the program goes on.
 */
#include "agent/state.h"
#include "allocation/allocation.h"
#include "allocation/allocator.h"
#include "contact/notice.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

/* Prototypes that libc's headers may hide. */
TL_API void *memalign(size_t alignment, size_t size);
TL_API void free_sized(void *block, size_t size);
TL_API void free_aligned_sized(void *block, size_t alignment, size_t size);

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
	registers.general[insn_arch.stack_pointer] = caller.stack_pointer;
	registers.general[insn_arch.frame_pointer] = caller.frame_pointer;
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
	if (agent_state.area && agent_state.area->allocations.on && allocator_is_found() &&
	    !allocator_has_early())
		atomic_store_explicit(&free_usually, allocator.free, memory_order_relaxed);
}

static void *allocated(void *block, size_t size, bool fresh, struct allocation_caller caller)
{
	settle_free();
	if (block && is_wanted(size))
		tell(AREA_HIT_BLOCK, block, size, caller);
	allocation_consider(block, size, fresh, caller);
	return block;
}

static void freed(void *block, struct allocation_caller caller)
{
	if (allocation_is_known(block))
		allocation_release(block, caller);
	else if (allocation_is_kept(agent_state.process, (uintptr_t)block))
		tell(AREA_HIT_FREED, block, 0, caller);
}

/* ------------------------------------------------------------------------------------------- */
/* In libc's place. What is usual goes straight on to libc's own; the rest is done by a function
 * that takes the place of the one called. */

#define RARE static __attribute__((noinline, cold))

RARE void *allocate_rarely(size_t size)
{
	return allocated(allocator_is_found() ? allocator.malloc(size) : allocator_early(size),
			 size, true, CALLER);
}

TL_API void *malloc(size_t size)
{
	return allocation_is_due(size) ? allocate_rarely(size) : allocator.malloc(size);
}

/* Early memory is zero. */
RARE void *allocate_zeroed_rarely(size_t count, size_t each)
{
	return allocated(allocator_is_found() ? allocator.calloc(count, each)
					      : allocator_early(count * each),
			 count * each, false, CALLER);
}

TL_API void *calloc(size_t count, size_t each)
{
	return allocation_is_due(count * each) ? allocate_zeroed_rarely(count, each)
					       : allocator.calloc(count, each);
}

static __attribute__((noinline)) void free_rarely(void *block)
{
	if (allocator_is_early(block))
		return;
	freed(block, CALLER);
	if (block && allocator_is_found())
		allocator.free(block);
}

TL_API void free(void *block)
{
	if (allocation_is_known(block))
		free_rarely(block);
	else
		atomic_load_explicit(&free_usually, memory_order_relaxed)(block);
}

/* As C has it since 2023: to an allocator that has these, too, they are free(). */
TL_API void free_sized(void *block, size_t size)
{
	(void)size;
	free(block);
}

TL_API void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment, (void)size;
	free(block);
}

/* Whatever moves: the old block is one no longer, the new one a block allocated here. */
static void *resize(void *block, size_t size, struct allocation_caller caller)
{
	void *moved;

	if (allocator_is_early(block) || !allocator_is_found()) {
		moved = allocator_is_found() ? allocator.malloc(size) : allocator_early(size);
		if (moved && block) {
			size_t there = allocator_early_rest(block);

			memmove(moved, block, size < there ? size : there);
		}
		return moved;
	}
	freed(block, caller);
	moved = allocator.realloc(block, size);
	if (block && (moved == block || (!moved && size)))
		allocation_forget_release(block);
	if (allocation_is_due(size))
		allocated(moved, size, !block, caller);
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
	void *block = allocator_is_found() ? allocator.memalign(alignment, size) : NULL;

	return allocation_is_due(size) ? allocated(block, size, true, CALLER) : block;
}

/* What is no power of two libraries judge in different ways, and one and the same does otherwise
 * than in memalign() (glibc since 2.38). */
TL_API void *aligned_alloc(size_t alignment, size_t size)
{
	void *block = allocator_is_found() ? allocator.aligned_alloc(alignment, size) : NULL;

	return allocation_is_due(size) ? allocated(block, size, true, CALLER) : block;
}

TL_API int posix_memalign(void **block, size_t alignment, size_t size)
{
	int err = allocator_is_found() ? allocator.posix_memalign(block, alignment, size) : ENOMEM;

	if (!err && allocation_is_due(size))
		allocated(*block, size, true, CALLER);
	return err;
}
