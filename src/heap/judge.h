/* SPDX-License-Identifier: Apache-2.0 */
/* From an access to a guarded block to the verdict of rules.h. */
#ifndef HEAP_JUDGE_H
#define HEAP_JUDGE_H

#include "heap/rules.h"

#include <stdbool.h>

struct heap;

/* Judges an access at or about a block. Counts it where a rule hides it, and notes the block of a
 * write that is an error, so that its broken pattern is not told again. */
struct heap_verdict heap_judge_access(struct heap *heap, const struct tl_guarded *block,
				      const struct tl_access *access, bool is_sample);

#endif
