/* SPDX-License-Identifier: Apache-2.0 */
/* Of our own process: events take a descriptor for each thread, CPU and slot. */
#ifndef BASE_DESCRIPTOR_LIMIT_H
#define BASE_DESCRIPTOR_LIMIT_H

#include <sys/resource.h>

/* As many as may be had without privilege. What cannot be had is told where it is missing. */
static inline void descriptor_limit_lift(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

#endif
