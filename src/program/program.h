/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program under watch: its processes, the area that it shares with the controller, what the
 * user asked for, and what is counted.
 *
 * The room also holds the area's entries (entries.h), handing the area to programs that cannot open
 * it (handover.h), LD_PRELOAD (preload.h), reaching a program that another trapline started
 * (reach.h), and what happens when the controller itself fails (abandon.h, life.h). It promises
 * that the program goes on and its end is reported, whatever becomes of the controller. All rooms
 * of the controller work on one struct program, which knows none of them; the controller's thread
 * alone touches it.
 */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include "base/random.h"
#include "program/handover.h"
#include "program/counts.h"
#include "program/options.h"
#include "record/area.h"

struct account;
struct control;
struct explorer;
struct lasting;
struct notices;
struct placed;
struct program;
struct slot;
struct target;

/* What the rooms above do as processes come and go. Called by the controller's thread. */
struct program_events {
	/* The process waits at its start: opens what is to be watched from its first instruction
	 * on. 0, or -errno: the process is not watched. */
	int (*open)(struct target *target);
	void (*began)(struct target *target);
	/* Called now and then. False: nothing more is to be looked at in this process. */
	bool (*check)(struct target *target);
	/* The process ends, or its watching does: the last hits are told. */
	void (*ending)(struct target *target);
	void (*left)(struct target *target);
	/* Closes what open() opened, also where that failed half way. */
	void (*close)(struct target *target);
	/* The process's entry of the area is free for others. `ended`: there really was such a
	 * process. */
	void (*released)(struct program *program, uint32_t index, bool ended);
	/* The slot is about to be armed: writes to the area how threads are to be held there. */
	void (*publish)(struct target *target, struct slot *slot);
	/* Is it a process that ran before we did and was entered (arrival/enter.h)? */
	bool (*is_entered)(const struct program *program, pid_t pid);
	/* How many seccomp filters of the process permit the calls that handlers make. */
	int (*filters)(const struct program *program, pid_t pid);
	/* Threads of an entered process, by its entry, that no signal may be sent to. */
	const struct inject_stacks *(*stacks)(const struct program *program, uint32_t index);
	/* Signals of limits that the kernel has sent since this was last called with `heard`, at
	 * least. *read grows by the counts that were read for it. */
	uint64_t (*limits_sent)(struct target *target, bool heard, size_t *read);
};

/* What rooms below the strategies do for the one that a run goes by. */
struct program_ways {
	bool sampled;	 /* a clock shows now and then what threads do */
	bool slots_stay; /* slots are open also where threads wake all the time */
	bool budgeted;	 /* open slots are charged to the budget, which also limits looks */
	bool from_start; /* what is watched is there before a process's first instruction */
	bool every_hit;	 /* no hit is lost where the controller is slow: the program waits */
	bool unpaired;	 /* a hit is told and forgotten, and compared with no other */
	bool as_seen;	 /* hits are told as the hardware saw them, the kernel's accesses as well */
	bool beside_debuggers; /* processes are watched also while they are debugged */
	bool unread;	       /* the controller reads neither code nor memory */
	bool events_stay;      /* no armed slot is opened anew: threads would pass it meanwhile */
};

struct program {
	const struct program_events *events;
	const struct prices *prices;
	/* Theirs who keep them. */
	struct control *control;
	struct explorer *explorer;
	struct notices *notices;
	struct placed *placed;
	struct lasting *lasting;
	struct account *account;
	struct control_options options;
	struct program_ways ways;
	struct symbol_session *session;
	struct area *area;
	int area_fd;
	pid_t root;  /* first process, if it ran before us; 0: we started it */
	pid_t child; /* first process, if we started it */
	/* Number of inherited seccomp filters that permit the handlers' system calls. */
	int filters;
	bool welcomed;	      /* some process has been welcomed */
	_Atomic bool stopped; /* control_stop(): nothing more is begun */
	uint64_t started;     /* CLOCK_MONOTONIC ns */
	struct random random;
	/* Ns of our CPU time that went into interrupting other CPUs, to switch events. */
	uint64_t interrupting;
	struct target *target[AREA_PROCESSES]; /* by entry of the area; NULL: not watched */
	struct entries *entries;
	struct entered *entered; /* processes that ran before us: arrival/enter.c; NULL */
	struct handover handover;
	uint64_t count[COUNT_COUNT];
};

/* Did the program start us, or run before us? Then its first process is no child of ours. */
static inline bool program_is_attached(const struct program *program)
{
	return program->root != 0;
}

/* Do --include and --exclude let us look at code of this file? */
bool program_wants_module(const struct program *program, const char *path);

static inline void count_one(struct program *program, enum count count)
{
	program->count[count]++;
}

#endif
