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
	/* Ns since when it was seen as the same other program; 0: it is itself. */
	uint64_t changed;
	uint64_t changed_stack; /* where that program's stack begins */
	struct area_process *shared;
	/* Copied when it announced itself, so that it cannot change them: cover.c. */
	uint64_t proof_address, proof;
	struct space *space; /* NULL where nobody looks at it */
	struct slot slot[AREA_WATCHES];
	unsigned slots;	   /* for what strategies choose … */
	unsigned placed;   /* … and those behind them, for what tools place */
	uint64_t arm_time; /* ns that arming takes, lately: it grows with the threads */
	/* Births of threads as of the last look, and since when there were so many. */
	uint32_t births;
	uint64_t born_at;
	pid_t first_tracer; /* who traced it before it was watched; 0: nobody */
	/* Number of seccomp filters that permit the handlers' system calls. */
	int filters;
	bool entered;			    /* its handler is src/inject's */
	struct confined confined;	    /* of a process that was entered … */
	struct taken taken;		    /* … likewise */
	const struct inject_stacks *stacks; /* of a process that was entered; else NULL */
	/* Version of the choice of threads that its events were opened for. */
	unsigned cover_version;
	struct doubts doubts; /* cover.h */
	bool debugged;	      /* by a debugger that came later: nothing is sampled meanwhile */
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

/* Begins to watch processes that announced themselves, and lets go those that take their leave.
 * Both may be waiting for the answer. */
void targets_welcome(struct program *program);
/* Looks which processes have ended, executed another program or come under a debugger. */
void targets_check(struct program *program);
void target_end(struct target *target);
/* NULL: it is not watched. */
struct target *target_find(const struct program *program, pid_t pid);
/* Begins to observe a process without our library; `observed` is the target's from then on. 0 or
 * -errno. */
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

/* Do the process's threads wake so often that an armed slot, too, takes more of its time than a
 * watch may? Then code is watched in one thread at a time, and an address in all threads only where
 * others were seen to access it. */
static inline bool armed_is_dear(const struct target *target)
{
	return target->transient.armed_dear;
}

/* Is arming slow? It takes a few microseconds for each thread; where that comes near the length of
 * a hold, widening comes too late to be of use. */
static inline bool arms_slowly(const struct target *target)
{
	return target->arm_time >= ARM_SLOW;
}

#endif
