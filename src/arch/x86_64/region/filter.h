/* SPDX-License-Identifier: Apache-2.0 */
/* System calls by which the program restricts those that it makes after them. */
#ifndef REGION_FILTER_H
#define REGION_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <ucontext.h>

/* What a seccomp filter leaves regions. */
enum region_filter {
	REGION_FILTER_FREE,    /* everything */
	REGION_FILTER_FREEZES, /* nothing can be opened and closed */
	REGION_FILTER_ENDS,    /* covered threads could not get on */
};

/* `copies`: whether the kernel may still copy our memory. A pure function. */
enum region_filter region_filter_judge(const struct sock_filter *code, unsigned length,
				       bool *copies);

/*
 * A dispatched call of a covered thread, which has not been made yet: no region can be kept beyond
 * it. Where they can be kept but not changed they are frozen (region/region.h).
 */
bool region_filter_ends_all(const ucontext_t *context, unsigned architecture);

#endif
