/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/own.h"

#include "allocation/allocator.h"
#include "base/syscall.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>

uintptr_t own_image, own_image_size;
uintptr_t own_suspected = UINTPTR_MAX, own_unaligned = UINTPTR_MAX;
__thread uintptr_t own_stack_end __attribute__((tls_model("initial-exec")));

/* With no limit the stack's room is not known; others are then far from it. */
#define FIRST_STACK_MOST (1ull << 30)

/* Highest address of the first thread's stack, by the dynamic linker. */
extern void *__libc_stack_end;

void own_begin(bool all)
{
	struct dl_find_object program, allocators, libc;

	if (_dl_find_object((void *)getauxval(AT_PHDR), &program) == 0) {
		own_image_size =
			(uintptr_t)program.dlfo_map_end - (uintptr_t)program.dlfo_map_start;
		own_image = (uintptr_t)program.dlfo_map_start;
	}
	own_unaligned = 7; /* small blocks of some allocators are aligned to 8 */
	if (_dl_find_object((void *)allocator.free, &allocators) == 0 &&
	    _dl_find_object((void *)getauxval, &libc) == 0 &&
	    allocators.dlfo_link_map == libc.dlfo_link_map)
		own_unaligned = 15;
	own_suspected = all ? UINTPTR_MAX : own_unaligned;
}

/* A thread's stack ends where its thread-local storage begins. */
void own_begin_thread(void)
{
	own_stack_end = raw_gettid() == raw_getpid() ? (uintptr_t)__libc_stack_end
						     : (uintptr_t)__builtin_thread_pointer();
}

bool own_looks_wrong(const void *block)
{
	return (uintptr_t)block & own_unaligned;
}

/* The kernel keeps that much, and its gap besides, free of anything else below the stack's end.
 * What is farther from it is a stack of the program's own making, on memory that may be a block's.
 */
static bool is_on_first_stack(uintptr_t address)
{
	struct rlimit limit = {0};

	raw_syscall6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
	return own_stack_end - address <= limit.rlim_cur &&
	       own_stack_end - address <= FIRST_STACK_MOST;
}

/*
 * The stack that the thread was made with, by libc, which frees memory meanwhile with the thread's
 * lock held: that must not ask again. Asked for once, since it stays.
 */
static bool is_on_made_stack(uintptr_t address, uint64_t stack_pointer)
{
	static __thread uintptr_t start __attribute__((tls_model("initial-exec")));
	static __thread size_t size __attribute__((tls_model("initial-exec")));
	static __thread bool asked __attribute__((tls_model("initial-exec")));
	pthread_attr_t attributes;
	void *lowest;

	if (!asked) {
		asked = true;
		if (pthread_getattr_np(pthread_self(), &attributes))
			return false;
		if (pthread_attr_getstack(&attributes, &lowest, &size))
			size = 0;
		start = (uintptr_t)lowest;
		pthread_attr_destroy(&attributes);
	}
	/* Whoever gave the thread a block of its own to stand on may free that from below. */
	return size && stack_pointer - start < size && address > start && address - start < size;
}

/* Between the stack pointer, or a little below it, and the end of the same stack. Of a program that
 * runs on a stack of its own making, nothing is known. */
static bool is_on_stack(uintptr_t address, uint64_t stack_pointer)
{
	if (address < stack_pointer - OWN_STACK_BELOW)
		return false;
	if (!own_stack_end)
		own_begin_thread();
	if (address >= own_stack_end)
		return false;
	if (raw_gettid() == raw_getpid())
		return is_on_first_stack(address < stack_pointer ? address : stack_pointer);
	return is_on_made_stack(address, stack_pointer);
}

bool own_is_no_block(const void *block, uint64_t stack_pointer)
{
	uintptr_t address = (uintptr_t)block;

	return own_looks_wrong(block) || address - own_image < own_image_size ||
	       is_on_stack(address, stack_pointer);
}
