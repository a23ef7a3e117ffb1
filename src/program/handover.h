/* SPDX-License-Identifier: Apache-2.0 */
/* Handing the area to programs that cannot open it: who asks, and for how long that is waited for.
 */
#ifndef PROGRAM_HANDOVER_H
#define PROGRAM_HANDOVER_H

#include "record/area.h"

#include <stdint.h>
#include <sys/types.h>

struct program;

/* A process that the area is to be handed to. Of the controller's thread alone. */
struct asker {
	pid_t inside;	      /* as it calls itself … */
	pid_t pid;	      /* … and here; 0: not found yet */
	uint64_t since, next; /* … and looked at next */
	uint64_t until;	      /* 0: nobody */
};

struct handover {
	/* An asker shows it, and so proves that it was told by a process that maps the area. */
	uint64_t secret;
	struct asker asker[AREA_ASKERS];
	uint64_t next; /* look for any, at the earliest */
};

void handover_begin(struct program *program);
/* The process `pid`, as numbered in our namespace, has executed a program, which may ask. */
void handover_expect(struct program *program, pid_t pid);
void handover_run(struct program *program);
uint64_t handover_next(const struct program *program);

#endif
