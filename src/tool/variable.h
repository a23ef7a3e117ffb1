/* SPDX-License-Identifier: Apache-2.0 */
/* Which variable an access was made to. */
#ifndef TOOL_VARIABLE_H
#define TOOL_VARIABLE_H

#include "process/space.h"
#include "symbol/variable.h"

#include <trapline/tool.h>

/* Fills in `variable`, always: the variable at the first access's address, which may be in a
 * frame of the threads that made the first two accesses or of a thread that sleeps. */
void variable_find(struct space *space, const struct tl_access *const *accesses, size_t count,
		   struct symbol_variable *variable);

#endif
