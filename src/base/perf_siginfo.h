/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says with SIGTRAP of a perf event (Linux, include/uapi/asm-generic/siginfo.h,
 * _perf), which the headers of libc before 2.36 do not name. */
#ifndef BASE_PERF_SIGINFO_H
#define BASE_PERF_SIGINFO_H

#include <stddef.h>
#include <stdint.h>

#define PERF_SIGINFO_CODE 6  /* si_code: TRAP_PERF */
#define PERF_SIGINFO_LATE 1u /* flags: TRAP_PERF_FLAG_ASYNC, SIGTRAP was blocked at the access */

struct perf_siginfo {
	int signo, error, code, padding;
	uint64_t address;
	uint64_t data;
	uint32_t type;
	uint32_t flags;
};

_Static_assert(offsetof(struct perf_siginfo, address) == 16 &&
		       offsetof(struct perf_siginfo, data) == 24 &&
		       offsetof(struct perf_siginfo, flags) == 36,
	       "asm-generic/siginfo.h");

#endif
