/* SPDX-License-Identifier: Apache-2.0 */
/* The access that a thread makes as its page fault ends. */
#ifndef TOOL_FAULT_H
#define TOOL_FAULT_H

#include "tool/host.h"

int host_complete_fault(struct tl_host *host, const struct tl_fault *fault,
			struct tl_access *access);

#endif
