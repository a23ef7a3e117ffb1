/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lasting watches: the caller arms a slot, and each hit is told, in order, until the process ends
 * or the slot is armed anew. No thread is held to find a pair.
 *
 * The room holds arming (here), the way from a record to what is told (traces.h), thread-local
 * variables (threads.h), regions that the program opens itself (regions.h) and what keeps all that
 * within the budget: a slot that costs too much rests until time has paid for it, and the hits that
 * it does not see are estimated (duty.h). It promises that no hit is lost silently: one that cannot
 * be told is counted. Two strategies are made of it (explore/strategy.h). The controller's thread
 * runs all of it.
 */
#ifndef LASTING_LASTING_H
#define LASTING_LASTING_H

#include "explore/strategy.h"
#include "hit/collect.h"

extern const struct strategy lasting_strategy;
/* Limits that the program's threads keep to by themselves, without any watch. */
extern const struct strategy limits_strategy;
/* Watches whose hits the handler leads elsewhere (inject/fix.h), and that nobody is told of: as
 * many threads as they are armed in pass them on until they are disarmed. */
extern const struct strategy redirects_strategy;

/* A hit of a lasting watch. */
struct trace {
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
	bool late;	    /* told after the access: where that was and what it did is not known */
	bool understood;    /* the instruction that made the access was found */
	bool value_known;
	uint64_t value; /* of the watched bytes, after the access (before an execution) */
};

struct lasting {
	void (*trace)(struct program *program, const struct trace *trace);
	struct hits *hits;
	bool duty;	    /* they keep to the budget */
	uint64_t trap_cost; /* ns of a hit outside the handler */
};

/* Lasting watches: slot `slot` of process `pid` watches this until the process ends or it is armed
 * anew. Of more than watch->hits hits (0: no bound) none is told and no thread held; window, widen
 * and priority mean nothing here. 0 or -errno. */
int lasting_arm(struct program *program, pid_t pid, unsigned slot, const struct tl_watch *watch);
void lasting_disarm(struct program *program, pid_t pid, unsigned slot);
/* The slot is opened, anew where it is already, for lasting_arm() to find: in all threads that take
 * a signal at this moment, as far as they stand in no handler. 1: some thread may turn out to take
 * one when this is called again; 0 or -errno. */
int lasting_open(struct program *program, pid_t pid, unsigned slot, const struct tl_watch *watch);
/* The first `slots` slots lead elsewhere (redirects_strategy): counts the hits so far, and the
 * threads in which one of them is not open, as far as is known. */
void lasting_count_redirects(struct program *program, pid_t pid, unsigned slots);
/* Where threads inherit no events, since each is asked for its signal stack first
 * (inject/stacks.h): an armed slot is opened in those that have been asked since. */
void lasting_follow_threads(struct program *program, pid_t pid, unsigned slot);
/* It was armed in every thread that can come to its place, as far as is known. */
bool lasting_is_whole(struct program *program, pid_t pid, unsigned slot);
/* By what the program's handlers judge a slot's hits. Set before lasting_arm(). */
struct lasting_judging {
	bool unfiltered; /* all are sent: they are not what the user asked for */
	bool values;	 /* hits read the watched bytes */
	bool certain;	 /* what passes the filter is wanted: no decoding, no caller decides */
	bool is_signed;
	bool known;	/* the watched bytes as they are now */
	uint64_t value; /* of them */
};
void lasting_judge(struct program *program, pid_t pid, unsigned slot,
		   const struct lasting_judging *judging);
/* The filter that says which hits are sent: lasting_filter() before the program starts, the other
 * one of a process when it begins. The latter is NULL when the process is not watched. */
struct filter *lasting_filter(struct program *program);
struct filter_process *lasting_filter_process(struct program *program, pid_t pid);
/* Hits that were counted at their place although they should have been sent. */
uint64_t lasting_unsent(struct program *program, pid_t pid);
/* The thread whose hit is being told is held still. Of several at one slot all go on with the
 * first.
 */
bool lasting_holds(const struct program *program);
/* Hits of a lasting watch since it was armed, by the kernel's own count: also those that left no
 * record. */
uint64_t lasting_count(struct program *program, pid_t pid, unsigned slot);
/* Hits that were not seen because the slot rested, to keep to the budget. */
struct lasting_estimate {
	uint64_t hits;
	bool at_least;		  /* some could not be estimated, and are not among `hits` */
	uint64_t watched, rested; /* ns */
};
void lasting_estimate(struct program *program, pid_t pid, unsigned slot,
		      struct lasting_estimate *estimate);
/* Records dropped in a process because none was free. */
uint64_t lasting_dropped(struct program *program, pid_t pid);
/* Silences a slot and gives its hardware back, for others to use. */
void lasting_close(struct program *program, pid_t pid, unsigned slot);

/* A watched process and one of its slots; NULL: there is none. */
struct slot *lasting_slot(struct program *program, pid_t pid, unsigned index,
			  struct target **target);

#endif
