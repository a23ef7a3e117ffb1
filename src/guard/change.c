/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that change memory, to zeroes or another mapping, without an access that a watch sees. They
 * are counted, and freed blocks make way for what is mapped in their place (vacate.c). Accepted
 * losses: the same calls made by syscall(2), and clone(2) with CLONE_VM. Nothing here may allocate,
 * since allocators call these functions as they begin.
 */
#include "agent/arch.h"
#include "agent/state.h"
#include "guard/guard.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <trapline/event.h>

/* Defined under both names that a program may call, mmap and mmap64: _FILE_OFFSET_BITS decides
 * which, and both do the same. */
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

/* The function that is resolved last says whether all are. */
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

/* To be called before and after the call: a watch that is armed while the call runs tells nothing
 * of the memory either. Leaves errno as it is. */
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

/* What is mapped there next begins as zeroes. */
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
	/* Without MAP_FIXED a wanted address is granted only where nothing lies. */
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

/* vfork() ends by a jump to libc's function, as if that had been called itself: the child returns
 * on its parent's stack, so no frame of ours may be there. */
__attribute__((used, visibility("hidden"))) vfork_fn *change_by_vfork(void)
{
	resolve();
	count_if(true);
	/* cppcheck-suppress CastIntegerToAddressAtReturn; it takes a pointer to a function for a
	 * number */
	return libc.vfork;
}

AGENT_ENTRY_OF_SIX(vfork, change_by_vfork);
