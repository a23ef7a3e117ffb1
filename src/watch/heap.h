/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of the heap, from their birth to their death. */
#ifndef WATCH_HEAP_H
#define WATCH_HEAP_H

#include "notice/notice.h"
#include "watch/wanted.h"

struct watch;
struct watched;

/* Is the expression one of blocks of the heap, and has it a meaning in the process? */
bool heap_is_wanted(const struct watched *process, unsigned index);
int heap_begin(struct watch *watch, struct watched *process, unsigned index);
void heap_notice(struct watch *watch, struct watched *process, const struct notice *notice);
void heap_print(const struct watch *watch, const struct wanted *wanted);

#endif
