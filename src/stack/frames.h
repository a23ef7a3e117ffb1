/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of a thread that has hit a watch, by addresses; beyond what was noted of it the memory
 * as it is, which is right while the thread is held. */
#ifndef STACK_FRAMES_H
#define STACK_FRAMES_H

#include "process/space.h"
#include "stack/rules.h"

#define FRAMES_MAX 128

/* Innermost first: how many. Functions are not looked up. */
int frames_of(struct space *space, const struct tl_access *access, struct tl_frame_place *frames,
	      int max);
/* The frame whose memory holds the address, or -1. */
int frames_find(const struct tl_frame_place *frames, int count, uint64_t pointer, uint64_t address);
/* Their pcs, at most `max`. */
unsigned frames_pcs(const struct tl_frame_place *frames, int count, uint64_t *pcs, unsigned max);

#endif
