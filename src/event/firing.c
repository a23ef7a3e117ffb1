/* SPDX-License-Identifier: Apache-2.0 */
#include "event/firing.h"

#include "event/perf.h"

#include <stdint.h>
#include <trapline/event.h>
#include <unistd.h>

static __attribute__((noinline)) void run_through(void)
{
	__asm__ volatile("");
}

bool firing_is_absent(unsigned access)
{
	uint64_t written __attribute__((aligned(8))) = 0;
	const struct perf_request request = {
		.addr = access & TL_EXEC ? (uintptr_t)run_through : (uintptr_t)&written,
		.length = sizeof(written),
		.access = access,
	};
	int fd = perf_open(&request, 0);
	uint64_t count;

	if (fd < 0)
		return false;
	__atomic_store_n(&written, 1, __ATOMIC_RELAXED);
	run_through();
	count = perf_count(fd);
	close(fd);
	return count == 0;
}
