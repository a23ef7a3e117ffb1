/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that were entered, for the files of this room: entering (enter.c), their children
 * (children.c), leaving (leave.c). */
#ifndef ARRIVAL_ENTERED_H
#define ARRIVAL_ENTERED_H

#include "arrival/enter.h"
#include "base/clock.h"
#include "inject/stacks.h"
#include "record/area.h"

#include "event/threads.h"

#define HOLD_USUAL SECOND /* ns, as the preload library has it (src/contact/announce.c) */

struct entered {
	struct injection injection[AREA_PROCESSES];
	struct inject_stacks stacks[AREA_PROCESSES]; /* by the entry's number */
	unsigned count, total;
	struct thread_set passed; /* children for which there was no room, as counted */
	struct thread_set seen;	  /* children that were there at the last look */
	uint64_t longest;
	uint64_t until;	   /* ns when the watching ends; 0: never by itself */
	bool had_children; /* some process of these, at some look */
	bool expected;	   /* the child stops before its program's first instruction, … */
	bool sets_action;  /* … or when its runtime has set its actions of signals */
};

/* Before the first. 0 or -ENOMEM. */
int entered_begin(struct program *program);
/* An entry of the area for a process that calls itself `inside`; -1: none is free. */
int entered_claim(struct program *program, pid_t inside);
void entered_give_back(struct program *program, int index);
/* From here on it is a process like others: welcome() finds it. */
void entered_announce(struct program *program, const struct injection *injection, int index);
void entered_look_at_stacks(struct program *program, struct injection *injection);

/* One that runs, after what a controller that has died left in it was removed. `pidfd`: -1, or of
 * it, which is no longer the caller's. 0 or -errno with a reason. */
int entered_enter(struct program *program, pid_t pid, int pidfd, struct inject_reason *reason);
/* Those that have ended, and children that have come since. */
void entered_look_at_children(struct program *program);
/* Has the child, in memory of its own, what that process has of ours, as a fork has? */
bool entered_is_forked(const struct program *program, const struct injection *parent, pid_t child);

#endif
