/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the bytes beyond a block's end that an aligned word took along. */
#ifndef HEAP_AHEAD_H
#define HEAP_AHEAD_H

#include <stdbool.h>
#include <trapline/tool.h>

struct heap;

/* Is this an aligned word that was loaded across the block's end, of whose bytes beyond it nothing
 * becomes, as far as could be followed? */
bool ahead_loads_too_much(const struct heap *heap, const struct tl_guarded *block,
			  const struct tl_access *access);

#endif
