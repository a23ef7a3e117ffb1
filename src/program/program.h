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

/* What the rooms above do as processes come and go. The controller's thread calls all of these. */
struct program_events {
	/* The process waits at its start: opens what is to be watched from its first instruction
	 * on. 0, or -errno: the process is not watched. */
	int (*open)(struct target *target);
	void (*began)(struct target *target);
	/* Called now and then. False: nothing more in this process is to be looked at in this
	 * turn. */
	bool (*check)(struct target *target);
	/* The process ends, or its watching does: the last hits are told. */
	void (*ending)(struct target *target);
	void (*left)(struct target *target);
	/* Closes what open() opened, also after an open() that failed half way. */
	void (*close)(struct target *target);
	/* The process's entry of the area is free for others. `ended`: its process is known to have
	 * ended. */
	void (*released)(struct program *program, uint32_t index, bool ended);
	/* The slot is about to be armed: writes to the area how threads are to be held there. */
	void (*publish)(struct target *target, struct slot *slot);
	/* Is it a process that ran before us and into which the handler was put
	 * (arrival/enter.h)? */
	bool (*is_entered)(const struct program *program, pid_t pid);
	/* How many of the process's seccomp filters permit the calls that handlers make? */
	int (*filters)(const struct program *program, pid_t pid);
	/* The threads of an entered process, by its entry, that must not be sent a signal. */
	const struct inject_stacks *(*stacks)(const struct program *program, uint32_t index);
	/* How many signals of limits the kernel has sent since the last call with `heard`; it may
	 * have been more. Adds to *read the number of counters that were read for it. */
	uint64_t (*limits_sent)(struct target *target, bool heard, size_t *read);
};

/* What the rooms below do or leave out for the strategy of this run. */
struct program_ways {
	bool sampled;	 /* a clock samples what threads do */
	bool slots_stay; /* slots stay open in threads that wake all the time, too */
	/* open slots are charged to the budget, which then also limits looks at code */
	bool budgeted;
	bool from_start; /* watches are in place before a process's first instruction */
	/* no hit is lost while the controller is slow: the program waits for room */
	bool every_hit;
	bool unpaired; /* a hit is told and forgotten; it is compared with no other */
	/* hits are told as the hardware saw them, and the kernel's accesses, too */
	bool as_seen;
	bool beside_debuggers; /* processes are watched also while they are debugged */
	bool unread;	       /* the controller reads neither the program's code nor its memory */
	/* an armed slot is never opened anew, since threads would pass it meanwhile */
	bool events_stay;
};

struct program {
	const struct program_events *events;
	const struct prices *prices;
	/* Each belongs to the room of its name; NULL where a run has none. */
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
	pid_t root;  /* the first process, if it ran before us; 0: we started it */
	pid_t child; /* the first process, if we started it; 0: it ran before us */
	/* How many seccomp filters that the program inherits permit the handlers' system calls. */
	int filters;
	bool welcomed;	      /* at least one process has been welcomed */
	_Atomic bool stopped; /* control_stop() was called: no watch is begun any more */
	uint64_t started;     /* CLOCK_MONOTONIC ns */
	struct random random;
	/* Our CPU time, in ns, that went into interrupting other CPUs to switch events on or
	 * off. */
	uint64_t interrupting;
	struct target *target[AREA_PROCESSES]; /* by entry of the area; NULL: not watched */
	struct entries *entries;
	struct entered *entered; /* processes that ran before us (arrival/enter.c); NULL: none */
	struct handover handover;
	uint64_t count[COUNT_COUNT];
};

/* Did the program start us, or did it run before us? Then its first process is no child of ours. */
static inline bool program_is_attached(const struct program *program)
{
	return program->root != 0;
}

/* Do --include and --exclude allow us to look at this file's code? */
bool program_wants_module(const struct program *program, const char *path);

static inline void count_one(struct program *program, enum count count)
{
	program->count[count]++;
}

#endif
