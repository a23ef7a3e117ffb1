/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watched process, from its announcement in the area to its end: its address space, its slots,
 * and what the rooms above keep of it. The controller's thread alone touches it; it is freed in
 * target_end(), after which nobody may know it.
 */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "base/pidfd.h"
#include "cost/budget.h"
#include "cost/wakeups.h"
#include "target/active.h"
#include "target/confined.h"
#include "target/cover.h"
#include "program/program.h"
#include "target/slot.h"
#include "target/taken.h"
#include "process/space.h"
#include "target/transient.h"

#define ARM_SLOW 200000u /* ns */

struct target {
	struct program *program;
	uint32_t index; /* of its entry in the area; AREA_PROCESSES of them */
	pid_t pid;
	int pidfd;
	uint64_t changed;	/* seen as this other program since then; 0: it is itself */
	uint64_t changed_stack; /* where that one's stack begins */
	struct area_process *shared;
	/* Copied when it announced itself, so that it cannot change them: cover.c. */
	uint64_t proof_address, proof;
	struct space *space; /* NULL where nobody looks at it */
	struct slot slot[AREA_WATCHES];
	unsigned slots;	   /* for what strategies choose … */
	unsigned placed;   /* … and those behind them, for what tools place */
	uint64_t arm_time; /* ns that arming takes, lately: it grows with the threads */
	/* Of threads, as many as were known of at the last look, and when they had become that. */
	uint32_t births;
	uint64_t born_at;
	pid_t first_tracer;		    /* who traced it before it was watched; 0: nobody */
	int filters;			    /* of system calls, that let handlers make theirs */
	bool entered;			    /* its handler is src/inject's */
	struct confined confined;	    /* of one that was entered … */
	struct taken taken;		    /* … too */
	const struct inject_stacks *stacks; /* of one that was entered; else NULL */
	unsigned cover_version;		    /* that its events were opened for */
	struct doubts doubts;		    /* cover.h */
	bool debugged; /* by somebody who came later: nothing is sampled meanwhile */
	struct wakeups wakeups;
	uint64_t next_count; /* when its wake-ups are counted next */
	uint64_t told_lost;  /* struct area_hit's `lost` of the last hit that a tool was told */
	struct active active;
	struct transient transient;
	struct spending seen; /* added to the budget's sum */
	/* Theirs who keep it. */
	struct control *control;
	struct explored *explored;
	struct target_limit *limit; /* AREA_LIMITS */
	struct duty *duty;	    /* one a slot */
	struct observed *observed;  /* watched from outside alone; NULL: it is not */
};

/* Begins to watch processes that announced themselves, and lets go those that say good-bye. Both
 * may wait for the answer. */
void targets_welcome(struct program *program);
/* Looks which processes have ended, executed another program or come under a debugger. */
void targets_check(struct program *program);
void target_end(struct target *target);
/* NULL: it is not watched. */
struct target *target_find(const struct program *program, pid_t pid);
/* A process without our library; `observed` is the target's from then on. 0 or -errno. */
int target_observe(struct program *program, pid_t pid, struct observed *observed);

static inline bool target_has_ended(const struct target *target)
{
	return pidfd_has_ended(target->pidfd);
}

/* What an armed slot costs a thread of this process at each wake-up, ns. */
static inline double target_wakeup_price(const struct target *target)
{
	return wakeups_price(&target->wakeups, target->program->prices);
}

/* Threads wake so often that an armed slot, too, takes more of the program's time than a watch may:
 * code is watched in one thread at a time, and an address in all of them only where others were
 * seen to come to it. */
static inline bool armed_is_dear(const struct target *target)
{
	return target->transient.armed_dear;
}

/* Arming takes a few microseconds a thread. Where that comes near a hold, widening comes too late
 * to be of use. */
static inline bool arms_slowly(const struct target *target)
{
	return target->arm_time >= ARM_SLOW;
}

#endif
