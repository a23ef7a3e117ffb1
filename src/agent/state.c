/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/state.h"

#include "base/syscall.h"

#include <stdatomic.h>
#include <time.h>

struct agent_state agent_state;

/* Set once a thread may not read the processor's clock: from then on the kernel is asked for the
 * time. */
static _Atomic bool clock_is_forbidden;

bool agent_forbid_clock(void)
{
	atomic_store_explicit(&clock_is_forbidden, true, memory_order_relaxed);
	return !agent_state.quiet;
}

bool agent_clock_is_forbidden(void)
{
	return atomic_load_explicit(&clock_is_forbidden, memory_order_relaxed);
}

uint64_t agent_now(void)
{
	struct timespec now;

	if (agent_clock_is_forbidden())
		raw_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
	else
		clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
