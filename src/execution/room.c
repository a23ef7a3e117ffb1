/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library and the area that it shares count in the limits of address space and of data
 * (RLIMIT_AS, RLIMIT_DATA) of a program that is executed under such limits. Where there is too
 * little for both, the dynamic linker complains on the program's standard error or ends it, before
 * anything of ours runs; or the program finds less than without us. What the program needs itself
 * nobody knows: who limits it leaves it some more than that, mostly a multiple. So no more than a
 * part of a limit may be ours.
 *
 * Accepted: a program that needs nearly all that its limit leaves it.
 */
#include "execution/room.h"

#include "agent/permitted.h"
#include "agent/state.h"
#include "base/syscall.h"

#include <stdint.h>
#include <sys/resource.h>

#define PART 8 /* of a limit, at most one of so many is ours */

/* The library as it is mapped, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_within(int resource, uint64_t bytes)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	raw_syscall6(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0);
	return bytes <= limit.rlim_cur / PART;
}

/* A filter that another image has set allows the call, which libc makes of every program's stack as
 * it begins. */
bool room_is_enough(void)
{
	uint64_t bytes = (uintptr_t)_end - (uintptr_t)__ehdr_start;

	return !permitted(SYS_prlimit64) || (is_within(RLIMIT_AS, bytes + agent_state.area->size) &&
					     is_within(RLIMIT_DATA, bytes));
}
