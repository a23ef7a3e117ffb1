/* SPDX-License-Identifier: Apache-2.0 */
/* Handing the area to programs that cannot open it: who asks, and for how long that is waited for.
 */
#ifndef CONTROL_HANDOVER_H
#define CONTROL_HANDOVER_H

#include <stdint.h>
#include <sys/types.h>

struct control;

/* Who is to be handed the area. */
struct asker {
	pid_t inside;	      /* as it calls itself … */
	pid_t pid;	      /* … and here; 0: not found yet */
	uint64_t since, next; /* … and looked at next */
	uint64_t until;	      /* 0: nobody */
};

void handover_begin(struct control *control);
/* Whoever executed something, by its id here: it may ask. */
void handover_expect(struct control *control, pid_t pid);
void handover_run(struct control *control);
uint64_t handover_next(const struct control *control);

#endif
