/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls by which memory becomes zero, or another's, without an access that a watch sees: they are
 * counted, and freed blocks make way for what is mapped in their place (vacate.c). Accepted: the
 * same calls by number, and clone(2) with CLONE_VM. Nothing here may allocate: allocators call
 * these functions as they begin.
 */
#include "agent/arch.h"
#include "agent/state.h"
#include "guard/guard.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <trapline/event.h>

/* By their names in libraries: which of the two a program's source calls is up to
 * _FILE_OFFSET_BITS, and both are the same. */
TL_API void *map(void *address, size_t length, int protection, int flags, int descriptor,
		 off_t offset) __asm__("mmap");
TL_API void *map_64(void *address, size_t length, int protection, int flags, int descriptor,
		    off_t offset) __asm__("mmap64");

typedef void vfork_fn(void);

static struct {
	int (*madvise)(void *, size_t, int);
	int (*munmap)(void *, size_t);
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	vfork_fn *vfork;
} libc;

/* The last one asked for tells that all are known. */
#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor(101))) static void resolve(void)
{
	if (libc.vfork)
		return;
	RESOLVE(madvise);
	RESOLVE(munmap);
	RESOLVE(mmap);
	RESOLVE(mremap);
	RESOLVE(vfork);
}

/* Before the call and after it: a watch that began before it has ended, too, may tell nothing of
 * the memory behind it. Leaves errno as it is. */
static void count_if(bool changes)
{
	struct area_process *process = agent_state.process;

	if (changes && process)
		atomic_fetch_add(&process->guard.changes, 1);
}

static bool discards(int advice)
{
	return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE ||
	       advice == MADV_DONTNEED_LOCKED;
}

TL_API int madvise(void *address, size_t length, int advice)
{
	int result;

	resolve();
	count_if(discards(advice));
	result = libc.madvise(address, length, advice);
	count_if(discards(advice));
	return result;
}

/* The next mapping there is zero. */
TL_API int munmap(void *address, size_t length)
{
	int result;

	resolve();
	vacate((uintptr_t)address, length);
	count_if(true);
	result = libc.munmap(address, length);
	count_if(true);
	return result;
}

void *map(void *address, size_t length, int protection, int flags, int descriptor, off_t offset)
{
	void *result;

	resolve();
	/* A wish is granted where nothing else lies. */
	if (address)
		vacate((uintptr_t)address, length);
	count_if(flags & MAP_FIXED);
	result = libc.mmap(address, length, protection, flags, descriptor, offset);
	count_if(flags & MAP_FIXED);
	return result;
}

void *map_64(void *address, size_t length, int protection, int flags, int descriptor, off_t offset)
{
	return map(address, length, protection, flags, descriptor, offset);
}

/* The address that is wanted is looked at by the kernel where the flags say so. */
TL_API void *mremap(void *address, size_t length, size_t wanted_length, int flags, ...)
{
	va_list list;
	void *wanted, *result;

	resolve();
	va_start(list, flags);
	wanted = va_arg(list, void *);
	va_end(list);
	if (flags & MREMAP_FIXED)
		vacate((uintptr_t)wanted, wanted_length);
	count_if(true);
	result = libc.mremap(address, length, wanted_length, flags, wanted);
	count_if(true);
	return result;
}

/* Goes on in libc's function as if that had been called itself, by a jump: the child returns on the
 * stack of its parent. */
__attribute__((used, visibility("hidden"))) vfork_fn *change_by_vfork(void)
{
	resolve();
	count_if(true);
	/* cppcheck-suppress CastIntegerToAddressAtReturn; it takes a pointer to a function for a
	 * number */
	return libc.vfork;
}

AGENT_ENTRY_OF_SIX(vfork, change_by_vfork);
