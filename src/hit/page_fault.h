/* SPDX-License-Identifier: Apache-2.0 */
/* From a page fault that has been seen to the access that it was for. */
#ifndef HIT_PAGE_FAULT_H
#define HIT_PAGE_FAULT_H

#include "process/space.h"
#include "sample/fault.h"

#include <trapline/tool.h>

/*
 * Address, length, kind and traits of the access that the thread makes after the fault. Of a system
 * call the one byte is told that the kernel came to first, and only where the call's arguments lead
 * there. False: neither they nor the instruction explain the fault.
 */
bool page_fault_attribute(struct space *space, const struct fault_seen *seen,
			  const struct tl_fault *fault, struct tl_access *access);

#endif
