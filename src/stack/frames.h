/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a thread that has hit a watch. Of its stack a piece was noted at the hit; beyond
 * that the memory is read as it is now, which is right as long as the thread is held. */
#ifndef STACK_FRAMES_H
#define STACK_FRAMES_H

#include "process/space.h"
#include "stack/rules.h"

#define FRAMES_MAX 128

/* Writes the frames to `frames`, innermost first, and returns how many. Functions are not looked
 * up. */
int frames_of(struct space *space, const struct tl_access *access, struct tl_frame_place *frames,
	      int max);
/* Which of the frames the address lies in; -1: in none. */
int frames_find(const struct tl_frame_place *frames, int count, uint64_t pointer, uint64_t address);
/* Their pcs, at most `max`. */
unsigned frames_pcs(const struct tl_frame_place *frames, int count, uint64_t *pcs, unsigned max);

#endif
