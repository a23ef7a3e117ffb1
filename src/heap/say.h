/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of this tool, in words. From each finding on all blocks of its context are guarded,
 * where our library is in the process. */
#ifndef HEAP_SAY_H
#define HEAP_SAY_H

#include "heap/rules.h"

#include <trapline/tool.h>

/* By which a finding was made: a member of its JSON form. */
#define STRATEGY_WATCH "watch"
#define STRATEGY_PAGE "page"
#define STRATEGY_PATTERN "pattern"
#define STRATEGY_SAMPLE "sample"
#define STRATEGY_CALL "call"

struct heap;

/* An access that is an error. */
void say_access(struct heap *heap, const struct tl_guarded *block, const struct tl_access *access,
		const struct heap_verdict *verdict, const char *strategy);
/* A wrong call of free(). `evidence`: why it is thought to be one; or NULL. */
void say_call(struct heap *heap, const struct tl_guarded_news *news, enum tl_certainty certainty,
	      const char *evidence);
/* A pattern that somebody has broken. */
void say_broken(struct heap *heap, const struct tl_guarded_news *news);

#endif
