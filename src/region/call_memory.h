/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory of the caller a system call reads and writes, for the calls of
 * base/call_arguments.h.
 */
#ifndef REGION_CALL_MEMORY_H
#define REGION_CALL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGION_CALL_PENDING INT64_MAX /* for `result`: the call has not been made yet */

struct region_call {
	uint64_t number;
	uint64_t argument[6];
	int64_t result;
};

/* `access`: TL_READ where the kernel reads the memory, TL_WRITE where it writes. */
typedef void region_call_visitor(void *context, uintptr_t first, size_t length, unsigned access);

/*
 * Calls `visit` for each piece of memory that the call may touch (pending) or, as far as its result
 * tells, has touched. Memory that describes memory (struct iovec, struct msghdr) is read without
 * faulting. Returns false for a call that is not known here. Async-signal-safe.
 */
bool region_call_memory(const struct region_call *call, region_call_visitor *visit, void *context);

/* The call has mapped (pending: may map) something new at [*start, *start + *length). */
bool region_call_maps(const struct region_call *call, uintptr_t *start, size_t *length);

#endif
