/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc's allocation functions, in the library that is preloaded where blocks are guarded. What is
 * usual goes straight on to the allocator that the program would have without us; the rest is done
 * by a function that takes the place of the one called.
 */
#include "allocation/allocator.h"
#include "guard/entry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

/* Prototypes that libc's headers may hide. */
TL_API void *memalign(size_t alignment, size_t size);
TL_API void *valloc(size_t size);
TL_API void *pvalloc(size_t size);
TL_API void free_sized(void *block, size_t size);
TL_API void free_aligned_sized(void *block, size_t alignment, size_t size);
TL_API size_t malloc_usable_size(void *block);

/* Bytes; from there on glibc maps a block of its own (M_MMAP_THRESHOLD of mallopt(3)). */
#define COPY_MOST (128u << 10)

/* ------------------------------------------------------------------------------------------- */
/* Allocating */

static void *allocate_usually(size_t size)
{
	return allocator_is_found() ? allocator.malloc(size) : allocator_early(size);
}

RARE void *allocate_rarely(size_t size)
{
	void *block = guard_allocate(&(struct guard_wish){.size = size}, CALLER);

	return block ? block : allocate_usually(size);
}

TL_API void *malloc(size_t size)
{
	return IS_DUE ? allocate_rarely(size) : allocator.malloc(size);
}

RARE void *allocate_zeroed_rarely(size_t count, size_t each)
{
	void *block = NULL;
	size_t size;

	if (!__builtin_mul_overflow(count, each, &size))
		block = guard_allocate(&(struct guard_wish){.size = size, .zeroed = true}, CALLER);
	if (block)
		return block;
	/* Early memory is zero. */
	return allocator_is_found() ? allocator.calloc(count, each) : allocator_early(count * each);
}

TL_API void *calloc(size_t count, size_t each)
{
	return IS_DUE ? allocate_zeroed_rarely(count, each) : allocator.calloc(count, each);
}

/* What is no power of two is the allocator's to judge. */
static bool is_alignment(size_t alignment)
{
	return alignment && !(alignment & (alignment - 1));
}

static void *guard_aligned(size_t alignment, size_t size, struct allocation_caller caller)
{
	if (!is_alignment(alignment))
		return NULL;
	return guard_allocate(&(struct guard_wish){.size = size, .alignment = alignment}, caller);
}

RARE void *align_rarely(size_t alignment, size_t size)
{
	void *block = guard_aligned(alignment, size, CALLER);

	if (block)
		return block;
	return allocator_is_found() ? allocator.memalign(alignment, size) : NULL;
}

/* As C has it: what is no power of two an allocator may judge otherwise than in memalign(). */
RARE void *align_c_rarely(size_t alignment, size_t size)
{
	void *block = guard_aligned(alignment, size, CALLER);

	if (block)
		return block;
	return allocator_is_found() ? allocator.aligned_alloc(alignment, size) : NULL;
}

TL_API void *memalign(size_t alignment, size_t size)
{
	return IS_DUE ? align_rarely(alignment, size) : allocator.memalign(alignment, size);
}

TL_API void *aligned_alloc(size_t alignment, size_t size)
{
	return IS_DUE ? align_c_rarely(alignment, size) : allocator.aligned_alloc(alignment, size);
}

TL_API void *valloc(size_t size)
{
	return IS_DUE ? align_rarely(GUARD_PAGE, size) : allocator.memalign(GUARD_PAGE, size);
}

/* Whole pages. What is too much to be rounded is too much for the allocator. */
TL_API void *pvalloc(size_t size)
{
	size_t rounded = (size + GUARD_PAGE - 1) & ~(size_t)(GUARD_PAGE - 1);
	size_t whole = rounded < size ? size : rounded;

	return IS_DUE ? align_rarely(GUARD_PAGE, whole) : allocator.memalign(GUARD_PAGE, whole);
}

RARE int align_posix_rarely(void **to, size_t alignment, size_t size)
{
	void *block = NULL;

	if (is_alignment(alignment) && alignment % sizeof(void *) == 0)
		block = guard_allocate(&(struct guard_wish){.size = size, .alignment = alignment},
				       CALLER);
	if (!block)
		return allocator_is_found() ? allocator.posix_memalign(to, alignment, size)
					    : ENOMEM;
	*to = block;
	return 0;
}

TL_API int posix_memalign(void **block, size_t alignment, size_t size)
{
	return IS_DUE ? align_posix_rarely(block, alignment, size)
		      : allocator.posix_memalign(block, alignment, size);
}

/* ------------------------------------------------------------------------------------------- */
/* Freeing */

RARE void free_rarely(void *block)
{
	guard_free(block, (struct guard_end){GUARD_MALLOC, 0}, CALLER);
}

/* Of nothing too: a library may free that before anything was allocated, and so before the
 * allocator is found. */
TL_API void free(void *block)
{
	if (guard_is_suspect(block) || !block)
		free_rarely(block);
	else
		allocator.free(block);
}

RARE void free_sized_rarely(void *block, size_t size)
{
	guard_free(block, (struct guard_end){GUARD_MALLOC, size}, CALLER);
}

/* As C has it since 2023: to an allocator that has these, too, they are free(). */
TL_API void free_sized(void *block, size_t size)
{
	if (guard_is_suspect(block) || !block)
		free_sized_rarely(block, size);
	else
		allocator.free(block);
}

TL_API void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment;
	if (guard_is_suspect(block) || !block)
		free_sized_rarely(block, size);
	else
		allocator.free(block);
}

/* ------------------------------------------------------------------------------------------- */
/* Of another size */

static void *resize_early(void *block, size_t size)
{
	void *moved = allocate_usually(size);

	if (moved && block) {
		size_t there = allocator_early_rest(block);

		memcpy(moved, block, size < there ? size : there);
	}
	return moved;
}

/* To nothing: what the allocator makes of that. */
static void *resize_to_nothing(void *block, struct allocation_caller caller)
{
	void *other = allocator.malloc(1);

	guard_free(block, (struct guard_end){GUARD_MALLOC, 0}, caller);
	return other ? allocator.realloc(other, 0) : NULL;
}

/* A guarded block moves always, but for a large one: release_move(). */
static void *resize_guarded(void *block, uint32_t place, size_t size,
			    struct allocation_caller caller)
{
	size_t old = guard_table.record[place].size;
	void *moved;

	if (!size)
		return resize_to_nothing(block, caller);
	if (release_move(place, (uintptr_t)block, size, caller, &moved))
		return moved;
	if (old > size)
		old = size;
	moved = guard_allocate(&(struct guard_wish){.size = size, .copied = old}, caller);
	if (!moved)
		moved = allocator.malloc(size);
	if (!moved)
		return NULL;
	memcpy(moved, block, old);
	guard_free(block, (struct guard_end){GUARD_MALLOC, 0}, caller);
	return moved;
}

/* May the block be something else than one of the allocator's? Where every address is suspect, what
 * it surely is counts: that it is no guarded one is known by now. */
static bool is_unsure(const void *block, struct allocation_caller caller)
{
	return own_suspected == UINTPTR_MAX ? own_is_no_block(block, caller.stack_pointer)
					    : guard_is_suspect(block);
}

/* Of a block of the allocator's, where it may be moved by a copy, how many bytes; 0: it may not be.
 * Larger ones are mappings of their own, as a rule, which the allocator moves without a copy. */
static size_t bytes_to_copy(const void *block, struct allocation_caller caller)
{
	size_t size = 0;

	if (allocator.usable_size && !is_unsure(block, caller))
		size = allocator.usable_size((void *)block);
	if (size < COPY_MOST)
		return size;
	choose_note_left_out();
	return 0;
}

static void *resize(void *block, size_t size, struct allocation_caller caller)
{
	uint32_t place = guard_find((uintptr_t)block);
	void *moved = NULL;
	size_t old;

	if (allocator_is_early(block) || !allocator_is_found())
		return resize_early(block, size);
	if (place != GUARD_NOWHERE) {
		if (guard_state(guard_table.entry[place]) == GUARD_LIVE)
			return resize_guarded(block, place, size, caller);
		tell_refused(GUARD_FREED_TWICE, block, place, caller);
		return size ? allocator.malloc(size) : NULL;
	}
	if (block && guard_is_suspect(block) && release_refuse(block, caller))
		return size ? allocator.malloc(size) : NULL;
	old = block && size ? bytes_to_copy(block, caller) : 0;
	if (old > size)
		old = size;
	if (!block || old)
		moved = guard_allocate(&(struct guard_wish){.size = size, .copied = old}, caller);
	if (!moved)
		return allocator.realloc(block, size);
	if (block) {
		memcpy(moved, block, old);
		allocator.free(block);
	}
	return moved;
}

RARE void *resize_rarely(void *block, size_t size)
{
	return resize(block, size, CALLER);
}

TL_API void *realloc(void *block, size_t size)
{
	return IS_DUE || guard_is_suspect(block) ? resize_rarely(block, size)
						 : allocator.realloc(block, size);
}

TL_API void *reallocarray(void *block, size_t count, size_t each)
{
	size_t size;

	if (__builtin_mul_overflow(count, each, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	(void)IS_DUE;
	return resize(block, size, CALLER);
}

/* All that the program may use of a guarded block is what it asked for; of an empty one, where it
 * relies on finding something, what is behind it. */
static size_t usable(struct guard_record *record, uintptr_t block)
{
	if (!record->size)
		record->size = record->raw + record->room - block;
	return record->size;
}

TL_API size_t malloc_usable_size(void *block)
{
	uint32_t place = guard_find((uintptr_t)block);

	if (place != GUARD_NOWHERE)
		return usable(&guard_table.record[place], (uintptr_t)block);
	if (!block || allocator_is_early(block) || !allocator_is_found() || !allocator.usable_size)
		return 0;
	return allocator.usable_size(block);
}
