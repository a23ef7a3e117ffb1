/* SPDX-License-Identifier: Apache-2.0 */
/* Handing the area to programs that cannot open it: who asks for it, and how long each asker is
 * looked for. */
#ifndef PROGRAM_HANDOVER_H
#define PROGRAM_HANDOVER_H

#include "record/area.h"

#include <stdint.h>
#include <sys/types.h>

struct program;

/* A process that the area is to be handed to. Only the controller's thread uses it. */
struct asker {
	pid_t inside;	      /* its id in its own namespace */
	pid_t pid;	      /* its id in ours; 0: not found yet */
	uint64_t since, next; /* CLOCK_MONOTONIC ns: when it asked, and when it is looked at next */
	uint64_t until;	      /* ns: it is given up then; 0: this place holds no asker */
};

struct handover {
	/* An asker shows this number, which proves that a process that maps the area told it. */
	uint64_t secret;
	struct asker asker[AREA_ASKERS];
	uint64_t next; /* CLOCK_MONOTONIC ns: nobody is looked for before */
};

void handover_begin(struct program *program);
/* The process `pid`, as numbered in our namespace, has executed a program, which may ask. */
void handover_expect(struct program *program, pid_t pid);
void handover_run(struct program *program);
uint64_t handover_next(const struct program *program);

#endif
