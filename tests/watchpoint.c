/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a watchpoint fire on this machine? Some hypervisors take the debug registers' values and
 * never deliver a trap. tests/guard.py and .ci/run ask; it is a program by itself, so that it can
 * be built before anything else is: cc tests/watchpoint.c
 *
 * Exit status 0: a write to a watched variable was counted; 1: it was not; 2: nothing could be
 * opened, or read, which has other reasons: permissions, or slots that others hold.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	static volatile uint64_t watched;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = sizeof(watched),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	uint64_t count = 0;

	watched = 1;
	if (fd < 0 || read((int)fd, &count, sizeof(count)) != sizeof(count))
		return 2;
	return count == 1 ? 0 : 1;
}
