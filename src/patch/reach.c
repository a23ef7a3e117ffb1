/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trampolines: a jump reaches 2 GiB. One page each, found again by target. They are never freed or
 * changed: a thread may be about to execute one.
 */
#include "patch/patch.h"

#include "base/syscall.h"

#include <string.h>
#include <sys/mman.h>

#define PAGE 4096l
#define REACH 0x7fff0000l
#define STEP 0x400000l
#define MAX_TRAMPOLINES 1024

static const uint8_t jump_to_following_word[] = {0xff, 0x25, 0, 0, 0, 0};

static struct trampoline {
	uintptr_t at, target;
} trampolines[MAX_TRAMPOLINES];
static size_t trampoline_count;

static bool reaches(uintptr_t from, uintptr_t to)
{
	long distance = (long)(to - from);

	return distance > -REACH && distance < REACH;
}

static uintptr_t map_at(uintptr_t hint)
{
	long page = raw_syscall6(SYS_mmap, (long)hint, PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return page < 0 && page > -4096 ? 0 : (uintptr_t)page;
}

/* The nearest free page, tried in steps away from `from`. */
static uintptr_t map_near(uintptr_t from)
{
	uintptr_t base = from & ~(uintptr_t)(PAGE - 1), page = 0;

	for (long away = STEP; away < REACH && !page; away += STEP) {
		page = map_at(base + (uintptr_t)away);
		if (!page && base > (uintptr_t)away + 0x10000)
			page = map_at(base - (uintptr_t)away);
	}
	return page;
}

static uintptr_t create(uintptr_t from, uintptr_t target)
{
	uintptr_t page = trampoline_count < MAX_TRAMPOLINES ? map_near(from) : 0;

	if (!page)
		return 0;
	memcpy((void *)page, jump_to_following_word, sizeof(jump_to_following_word));
	memcpy((char *)page + sizeof(jump_to_following_word), &target, sizeof(target));
	if (raw_syscall3(SYS_mprotect, (long)page, PAGE, PROT_READ | PROT_EXEC)) {
		raw_syscall3(SYS_munmap, (long)page, PAGE, 0);
		return 0;
	}
	trampolines[trampoline_count++] = (struct trampoline){page, target};
	return page;
}

uintptr_t patch_reach(uintptr_t from, uintptr_t target)
{
	if (reaches(from, target))
		return target;
	for (size_t i = 0; i < trampoline_count; i++)
		if (trampolines[i].target == target && reaches(from, trampolines[i].at))
			return trampolines[i].at;
	return create(from, target);
}
