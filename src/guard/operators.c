/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++'s operators new and delete, by the names they have in libraries (Itanium C++ ABI). They go to
 * the allocator's malloc() and free() themselves, where the operators that the program would have
 * without us do so too: those of the C++ library, and of an allocator that brings both along. Where
 * malloc() fails, it is left to the next operator to call the new-handler and to throw. In any
 * other case (a program with operators of its own) every call is handed on.
 */
#include "guard/binding.h"
#include "guard/entry.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

enum operators_way { UNKNOWN, DIRECT, HANDED_ON };

static _Atomic int way;

static bool is_of_library(const void *function)
{
	struct dl_find_object file;
	const char *name;

	if (_dl_find_object((void *)function, &file))
		return false;
	name = strrchr(file.dlfo_link_map->l_name, '/');
	name = name ? name + 1 : file.dlfo_link_map->l_name;
	return strncmp(name, "libstdc++.so", 12) == 0 || strncmp(name, "libc++.so", 9) == 0 ||
	       strncmp(name, "libc++abi.so", 12) == 0;
}

/* The next one in line does what we would do. Without any, a library that is loaded later and finds
 * ours is the C++ library's. */
static bool is_replaceable(const char *name)
{
	const void *next = dlsym(RTLD_NEXT, name);

	return binding_is_ours(name) &&
	       (!next || is_of_library(next) ||
		binding_is_same_file(next, (const void *)allocator.malloc));
}

/* A program may bring some of them alone, which the C++ library's others call then. */
static bool are_replaceable(void)
{
	static const char *const names[] = {
#define OPERATOR(name) #name,
#include "record/operators.def"
#undef OPERATOR
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!is_replaceable(names[i]))
			return false;
	return true;
}

static __attribute__((noinline, cold)) int find_way(void)
{
	int found = HANDED_ON;

	if (!allocator_is_found())
		return DIRECT;
	if (are_replaceable())
		found = DIRECT;
	atomic_store_explicit(&way, found, memory_order_relaxed);
	return found;
}

static inline bool is_direct(void)
{
	int known = atomic_load_explicit(&way, memory_order_relaxed);

	return __builtin_expect(known == DIRECT, 1) || (known == UNKNOWN && find_way() == DIRECT);
}

/* The operator that the caller would have without us: the next one, or, of a library that was
 * loaded later, that of the caller's own libraries. */
static void *next_operator(const char *name, const void *caller)
{
	void *next = dlsym(RTLD_NEXT, name), *library;
	struct dl_find_object file;

	if (next || _dl_find_object((void *)caller, &file))
		return next;
	library = dlopen(file.dlfo_link_map->l_name, RTLD_NOLOAD | RTLD_LAZY);
	next = library ? dlsym(library, name) : NULL;
	/* There is no way to go on that the caller could bear. */
	if (!next)
		abort();
	return next;
}

static inline void *allocate(size_t size, size_t alignment)
{
	if (!allocator_is_found())
		return allocator_early(size);
	return alignment ? allocator.memalign(alignment, size) : allocator.malloc(size);
}

/* As `family` of them; NULL: the next operator is to do it. */
#define GUARDED(alignment_, family_)                                                  \
	(is_direct() ? guard_allocate(&(struct guard_wish){.size = size,              \
							   .alignment = (alignment_), \
							   .family = (family_)},      \
				      CALLER)                                         \
		     : NULL)

#define NEXT(name, type) ((type)next_operator(name, __builtin_return_address(0)))

#define NEW(name, alignment, family, parameters, arguments)                                  \
	typedef void *name##_type parameters;                                                \
	RARE void *name##_rarely parameters                                                  \
	{                                                                                    \
		void *block = GUARDED(alignment, family);                                    \
                                                                                             \
		if (!block && is_direct())                                                   \
			block = allocate(size, alignment);                                   \
		return block ? block : NEXT(#name, name##_type *) arguments;                 \
	}                                                                                    \
	TL_API void *name parameters;                                                        \
	TL_API void *name parameters                                                         \
	{                                                                                    \
		void *block;                                                                 \
                                                                                             \
		if (IS_DUE || !is_direct())                                                  \
			return name##_rarely arguments;                                      \
		block = allocate(size, alignment);                                           \
		return __builtin_expect(block != NULL, 1) ? block : name##_rarely arguments; \
	}

NEW(_Znwm, 0, GUARD_NEW, (size_t size), (size))
NEW(_Znam, 0, GUARD_NEW_ARRAY, (size_t size), (size))
NEW(_ZnwmRKSt9nothrow_t, 0, GUARD_NEW, (size_t size, const void *tag), (size, tag))
NEW(_ZnamRKSt9nothrow_t, 0, GUARD_NEW_ARRAY, (size_t size, const void *tag), (size, tag))
NEW(_ZnwmSt11align_val_t, to, GUARD_NEW_ALIGNED, (size_t size, size_t to), (size, to))
NEW(_ZnamSt11align_val_t, to, GUARD_NEW_ARRAY_ALIGNED, (size_t size, size_t to), (size, to))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, to, GUARD_NEW_ALIGNED,
    (size_t size, size_t to, const void *tag), (size, to, tag))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, to, GUARD_NEW_ARRAY_ALIGNED,
    (size_t size, size_t to, const void *tag), (size, to, tag))

#define DELETE(name, family, said, parameters, arguments)                            \
	typedef void name##_type parameters;                                         \
	RARE void name##_rarely parameters                                           \
	{                                                                            \
		if (is_direct())                                                     \
			guard_free(block, (struct guard_end){family, said}, CALLER); \
		else                                                                 \
			NEXT(#name, name##_type *) arguments;                        \
	}                                                                            \
	TL_API void name parameters;                                                 \
	TL_API void name parameters                                                  \
	{                                                                            \
		if (guard_is_suspect(block) || !is_direct())                         \
			name##_rarely arguments;                                     \
		else                                                                 \
			allocator.free(block);                                       \
	}

DELETE(_ZdlPv, GUARD_NEW, 0, (void *block), (block))
DELETE(_ZdaPv, GUARD_NEW_ARRAY, 0, (void *block), (block))
DELETE(_ZdlPvm, GUARD_NEW, size, (void *block, size_t size), (block, size))
DELETE(_ZdaPvm, GUARD_NEW_ARRAY, size, (void *block, size_t size), (block, size))
DELETE(_ZdlPvRKSt9nothrow_t, GUARD_NEW, 0, (void *block, const void *tag), (block, tag))
DELETE(_ZdaPvRKSt9nothrow_t, GUARD_NEW_ARRAY, 0, (void *block, const void *tag), (block, tag))
DELETE(_ZdlPvSt11align_val_t, GUARD_NEW_ALIGNED, 0, (void *block, size_t to), (block, to))
DELETE(_ZdaPvSt11align_val_t, GUARD_NEW_ARRAY_ALIGNED, 0, (void *block, size_t to), (block, to))
DELETE(_ZdlPvmSt11align_val_t, GUARD_NEW_ALIGNED, size, (void *block, size_t size, size_t to),
       (block, size, to))
DELETE(_ZdaPvmSt11align_val_t, GUARD_NEW_ARRAY_ALIGNED, size, (void *block, size_t size, size_t to),
       (block, size, to))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, GUARD_NEW_ALIGNED, 0,
       (void *block, size_t to, const void *tag), (block, to, tag))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, GUARD_NEW_ARRAY_ALIGNED, 0,
       (void *block, size_t to, const void *tag), (block, to, tag))
