/* SPDX-License-Identifier: Apache-2.0 */
/* Findings made readable: stacks of accesses from addresses to names, the program's path, times. */
#ifndef TOOL_COMPLETE_H
#define TOOL_COMPLETE_H

#include "process/space.h"
#include "record/finding.h"
#include "symbol/stack.h"

#include <trapline/tool.h>

#define COMPLETE_FRAMES 64 /* of one stack */

/* Unwinds the stack of the thread that made the access and returns the number of frames, at
 * least one. The innermost is the access's own instruction, since the registers were noted after
 * it. */
size_t complete_stack(struct space *space, const struct tl_access *access,
		      struct symbol_stack_frame *frames, size_t max);

/*
 * Adds the access with at most `frames` frames of its thread's stack; 1 needs no unwinding. `raw`:
 * modules and offsets only. The thread's name is left to the caller. NULL when memory is short.
 */
struct finding_access *complete_access(struct finding *finding, struct space *space,
				       const struct tl_access *from, size_t frames, bool raw);

/* Appends the frames at `pc` to a stack of the finding; false when memory is short. */
bool complete_frames(struct finding *finding, struct space *space, struct finding_stack *stack,
		     uint64_t pc, bool return_address, bool raw);

/* The program that the process executes, which may be another than the one that was started,
 * since a shell starts others. Where it is the same, the result is `started`, as it was called.
 * NULL: not known. */
const char *complete_program(struct finding *finding, const struct space *space,
			     const char *started);

/* For <trapline/tool.h>: the frames at `pc`, and those of a thread's stack. Returns how many. */
int host_symbolise(struct tl_host *host, pid_t pid, uint64_t pc, struct tl_frame *frames,
		   size_t max);
int host_stack(struct tl_host *host, const struct tl_access *access, struct tl_frame *frames,
	       size_t max);

/* Times in ns since 1970: now, and the one that a time of CLOCK_MONOTONIC stands for. */
uint64_t complete_time(void);
uint64_t complete_wall_time(uint64_t monotonic);

#endif
