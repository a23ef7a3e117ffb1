/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector of heap errors: a tool on <trapline/tool.h>.
 *
 * The room holds the callbacks (heap.c) and their state (state.h); which bytes are watched
 * (watches.h), faults in empty pages (pages.h), where an access was (place.h, ahead.h), the verdict
 * (judge.h) and every rule that hides an access (rules.h); contexts with evidence (remember.h);
 * processes that no library of ours is in (outside.h); and the findings' words (say.h). It promises
 * that what a rule hides, or no slot was left for, is counted (counts.h). The controller's thread
 * runs all of it but the two threads of pages.c.
 */
#ifndef HEAP_HEAP_H
#define HEAP_HEAP_H

#include <trapline/tool.h>

extern const struct tl_tool heap_tool;

#endif
