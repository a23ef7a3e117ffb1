/* SPDX-License-Identifier: Apache-2.0 */
/* A walk up the stack: one frame at a time, with what is kept between frames. */
#ifndef UNWIND_STEP_H
#define UNWIND_STEP_H

#include <string.h>

#include "unwind/memory.h"
#include "unwind/rows.h"
#include "unwind/unwind.h"

/* Frames that may lie below their callee's (another stack) before the walk is taken for a loop. */
#define STEP_DOWNWARD_LIMIT 8

struct walk {
	struct unwind_registers registers;
	unsigned downward;
	/* Where each register of ROWS_REGISTERS was saved last; 0: it is as it was. */
	uint64_t saved_at[ROWS_REGISTERS];
	struct memory memory;
};

static inline void walk_init(struct walk *walk)
{
	walk->downward = 0;
	memset(walk->saved_at, 0, sizeof(walk->saved_at));
	memory_init(&walk->memory);
}

/* 0, 1 at the outermost frame, or -errno. */
int walk_step(struct walk *walk);

#endif
