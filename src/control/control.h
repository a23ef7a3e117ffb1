/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller: starts a program (or finds one), follows its processes, owns all their events,
 * draws samples, gives addresses to hardware slots, and tells an observer what happened. It works
 * on any process that it may ptrace, its own included. One thread.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include "hit/stack.h"
#include "program/options.h"
#include "process/space.h"
#include "record/area.h"

#include <trapline/tool.h>

struct control;
struct control_notice;
struct control_guard_notice;

/* Told synchronously; a NULL member is not called. */
/* A hit of a lasting watch. */
struct control_trace {
	const struct tl_access *access;
	pid_t pid; /* of the thread: access->pid, or a child that is observed with it */
	unsigned slot;
	uint64_t address; /* watched by the slot, in this thread */
	uint64_t trap_pc; /* where the thread goes on */
	uint64_t number;  /* among those that passed the filter; 0: not numbered yet */
	bool judged;	  /* the filter has let it pass, in the program */
	bool before_known;
	uint64_t before;    /* as the hit before left them, sent or not */
	const char *thread; /* name; empty: not known */
	bool held;	    /* the thread waits in its handler */
	bool late;	    /* not at the access: where and what is not known */
	bool understood;    /* the instruction that made the access was found */
	bool value_known;
	uint64_t value; /* of the watched bytes, after the access (before an execution) */
};

struct control_observer {
	void (*sample)(void *context, const struct tl_access *access);
	void (*hit)(void *context, const struct tl_access *access);
	void (*pair)(void *context, const struct tl_pair *pair);
	void (*unwatched)(void *context, const struct tl_watch *watch, unsigned hits,
			  unsigned threads);
	/* Called now and then from the loop, and once at the end of each process. */
	void (*process_ended)(void *context, pid_t pid);
	/* Of lasting watches. `began`: before the process runs on; the place to arm. */
	void (*process_began)(void *context, pid_t pid);
	void (*trace)(void *context, const struct control_trace *trace);
	/* The program waits until it returns: control/notice.h. */
	void (*notice)(void *context, const struct control_notice *notice);
	/* A hit of a watch that `owner` placed; it ended by itself. */
	void (*placed)(void *context, unsigned owner, const struct tl_access *access);
	void (*displaced)(void *context, unsigned owner, const struct tl_watch *watch,
			  unsigned hits, unsigned threads);
	/* The same: control/guards.h. */
	void (*guard)(void *context, const struct control_guard_notice *notice);
	void (*tick)(void *context); /* some 50 times a second */
	/* Of an instruction, 0 to TL_INTEREST_MAX: see <trapline/tool.h>. */
	unsigned (*interest)(void *context, pid_t pid, uint64_t pc);
	void *context;
};

int control_create(struct control **control, const struct control_options *options,
		   const struct control_observer *observer);

/* Start a program under control: argv[0] is looked up as execvp() does. Its pid or -errno. */
pid_t control_spawn(struct control *control, char *const argv[], const char *library);
/* The same, of a program that no library can be loaded into: it is entered before its first
 * instruction (src/inject). Where that fails it runs, unwatched, and it is said why. */
enum control_entry {
	CONTROL_ENTRY_NONE,
	CONTROL_ENTRY_FIRST, /* before its first instruction */
	CONTROL_ENTRY_LATE,  /* when its runtime has set its actions of signals, as Go's does */
};
pid_t control_spawn_entered(struct control *control, char *const argv[], enum control_entry entry);

/* The area it shares with the program: for limits (limit/limit.h). */
struct area *control_area(struct control *control);

/* Work until the spawned program's first process ends. Returns its wait status. Without one, until
 * the last process that announced itself in the area has ended. */
int control_run(struct control *control);
/* The watching ends: what is still on its way is told. */
void control_finish(struct control *control);

int control_watch(struct control *control, const struct tl_watch *watch);

/*
 * Watches that a tool places and takes away itself: `arm` and `disarm` of <trapline/tool.h> say
 * what they return. `owner` (from 1 on) tells tools apart; a cookie is unique to its owner.
 */
int control_place(struct control *control, unsigned owner, const struct tl_watch *watch);
void control_displace(struct control *control, unsigned owner, uint64_t cookie);
unsigned control_places(struct control *control, pid_t pid); /* how many slots there are for it */
/* `interposed`, `held` and `unbroken` of <trapline/tool.h>. */
bool control_is_interposed(const struct control *control, pid_t pid);
bool control_holds(const struct control *control);
bool control_is_unbroken(const struct control *control, unsigned owner, pid_t pid, uint64_t cookie);
/* The observer's tick is called soon. Any thread. */
void control_rouse(struct control *control);
/* Percent of the budget that is spent; above 100 nothing may be armed. */
unsigned control_spent(const struct control *control);

/* Lasting watches: slot `slot` of process `pid` watches this until the process ends or it is armed
 * anew. watch->hits, window, widen and priority mean nothing here. 0 or -errno. */
int control_arm(struct control *control, pid_t pid, unsigned slot, const struct tl_watch *watch);
void control_disarm(struct control *control, pid_t pid, unsigned slot);
/* What handlers need to know of a slot to judge its hits; before control_arm(). */
struct control_judging {
	bool unfiltered; /* all are sent: they are no hits to the user */
	bool values;	 /* hits read the watched bytes */
	bool certain;	 /* what passes the filter is wanted: no decoding, no caller decides */
	bool is_signed;
	bool known;	/* the watched bytes as they are now */
	uint64_t value; /* of them */
};
void control_judge(struct control *control, pid_t pid, unsigned slot,
		   const struct control_judging *judging);
/* Which hits are sent: before the program starts, and of one process when it begins. The latter is
 * NULL when the process is not watched. */
struct filter *control_filter(struct control *control);
struct filter_process *control_filter_process(struct control *control, pid_t pid);
/* Hits that were counted at their place although they should have been sent. */
uint64_t control_unsent(struct control *control, pid_t pid);
/* Hits of a lasting watch since it was armed, by the kernel's own count: also those that left no
 * record. */
uint64_t control_slot_count(struct control *control, pid_t pid, unsigned slot);
/* Hits that were not seen because the slot rested, to keep to the budget. */
struct control_estimate {
	uint64_t hits;
	bool at_least;		  /* there were at least so many */
	uint64_t watched, rested; /* ns */
};
void control_estimate(struct control *control, pid_t pid, unsigned slot,
		      struct control_estimate *estimate);
/* Records dropped in a process because none was free. */
uint64_t control_dropped(struct control *control, pid_t pid);

/* Silence every slot at once, before work that takes longer than a hold. */
void control_quiesce(struct control *control);

/* Around work for a finding, which the budget does not count: see budget.c. */
uint64_t control_work_begin(const struct control *control);
void control_work_end(struct control *control, uint64_t begun);

/* Percent of the program's own CPU time that all of this takes so far, by what is measured. */
double control_cost(const struct control *control);

/* A signal to a process that is watched, or to one thread of it (0: none in particular). 0, or
 * -ESRCH when it has ended: never to another that was given its id. */
int control_signal(struct control *control, pid_t pid, pid_t tid, int signal);

/* NULL when the process is not watched. Valid until it ends. */
struct space *control_space(struct control *control, pid_t pid);
/* Does what system calls touch make hits? */
bool control_kernel_told(const struct control *control);

void control_destroy(struct control *control);

/* Every count there is: name, value and meaning, for --stats. */
typedef void control_count_fn(void *context, const char *name, uint64_t value, const char *meaning);
void control_counts(const struct control *control, control_count_fn *each, void *context);

#endif
