/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, in ns. Async-signal-safe. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define MILLISECOND 1000000ull
#define SECOND 1000000000ull

/* 0 when it is not there, as of a process that ended. */
static inline uint64_t clock_read(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* CLOCK_MONOTONIC. */
static inline uint64_t clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

/* CPU time of another process: MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) in the kernel. */
static inline clockid_t clock_of_process(pid_t pid)
{
	return (clockid_t)(~(unsigned)pid << 3 | 2);
}

#endif
