/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a thread, as addresses. */
#ifndef TOOL_UNWIND_H
#define TOOL_UNWIND_H

#include "tool/host.h"

int host_unwind(struct tl_host *host, const struct tl_access *access, struct tl_frame_place *frames,
		size_t max);

#endif
