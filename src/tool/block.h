/* SPDX-License-Identifier: Apache-2.0 */
/* Where a heap block came from, in findings. */
#ifndef TOOL_BLOCK_H
#define TOOL_BLOCK_H

#include "process/space.h"
#include "symbol/variable.h"
#include "tool/set.h"

/* Adds the block's origin; `variable` is what else is known of the block around the access's
 * address. */
void block_complete(struct tl_host *host, struct finding *finding, struct space *space,
		    const struct tl_access *access, const struct symbol_variable *variable);

#endif
