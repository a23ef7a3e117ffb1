/* SPDX-License-Identifier: Apache-2.0 */
/* Where an access was, to the byte, by what is known of the block around it. */
#ifndef HEAP_PLACE_H
#define HEAP_PLACE_H

#include <trapline/tool.h>

struct heap;
struct heap_watch;

/* Corrects the address of a hit of the watch, where the instruction did not tell it. */
void place_access(const struct heap *heap, struct heap_watch *watch, struct tl_access *access);
/* Widens the hit of a system call to all that it copied beyond the block's end, or before it, or in
 * the freed one, where the call's arguments tell it. */
void place_call(const struct heap *heap, const struct tl_guarded *block, struct tl_access *access);

#endif
