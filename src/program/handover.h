/* SPDX-License-Identifier: Apache-2.0 */
/* Handing the area to programs that cannot open it: who asks, and for how long that is waited for.
 */
#ifndef PROGRAM_HANDOVER_H
#define PROGRAM_HANDOVER_H

#include "record/area.h"

#include <stdint.h>
#include <sys/types.h>

struct program;

/* Who is to be handed the area. */
struct asker {
	pid_t inside;	      /* as it calls itself … */
	pid_t pid;	      /* … and here; 0: not found yet */
	uint64_t since, next; /* … and looked at next */
	uint64_t until;	      /* 0: nobody */
};

struct handover {
	uint64_t secret; /* by which they are known */
	struct asker asker[AREA_ASKERS];
	uint64_t next; /* look for any, at the earliest */
};

void handover_begin(struct program *program);
/* Whoever executed something, by its id here: it may ask. */
void handover_expect(struct program *program, pid_t pid);
void handover_run(struct program *program);
uint64_t handover_next(const struct program *program);

#endif
