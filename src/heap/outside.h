/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that no library of ours is in: those that ran before us, and static ones. In each of
 * them one block at a time is watched, which is chosen as it is made or freed. These are the tool's
 * callbacks for such processes, run by the controller's thread.
 */
#ifndef HEAP_OUTSIDE_H
#define HEAP_OUTSIDE_H

#include <trapline/tool.h>

struct heap;

void outside_began(struct heap *heap, pid_t pid);
void outside_ended(struct heap *heap, pid_t pid);
void outside_hit(struct heap *heap, const struct tl_access *access);
void outside_unwatched(struct heap *heap, uint64_t cookie);
void outside_tick(struct heap *heap);
void outside_stop(struct heap *heap);

#endif
