/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching what the user names: expressions become hardware slots in each process of the program,
 * each hit becomes a finding of kind "hit", filtered, printed, counted by place.
 */
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include "control/control.h"
#include "record/finding.h"
#include "watch/condition.h"

#include "watch/top.h"

#include <stdio.h>

#define WATCH_EXPRESSIONS 16

enum watch_action {
	WATCH_REPORT,
	WATCH_COUNT,
	WATCH_STOP,
	WATCH_ABORT,
	WATCH_EXECUTE,
	WATCH_DEBUG
};

#define WATCH_DEBUG_HOLD 60000000000ull /* ns, for a debugger to come */

struct watch_options {
	const char *const *expression;
	unsigned expressions;
	bool outside;  /* the program runs already, and no library of ours is in it */
	bool entered;  /* … but a handler, since threads wait for blocks of the heap; set here */
	bool later;    /* names that are unknown at the start may come with a later module */
	bool repoint;  /* follow pointers again when they change */
	bool regions;  /* the program's library can open them */
	bool children; /* watch forked and executed children too */
	bool stack;    /* print the whole stack */
	bool sampled;  /* to keep to a budget: values help to count what was not seen */
	bool stack_needed; /* unwind each hit, for the output */
	struct condition condition;
	const char *thread;    /* glob of names; NULL: all */
	const char *not_from;  /* function that must not be on the stack; NULL */
	uint64_t first, every; /* lines: at most so many, one in so many; 0: all */
	uint64_t after;	       /* ns from the start before which nothing is shown or counted */
	struct top *top;       /* shows places instead of lines; NULL */
	enum watch_action action;
	const char *command; /* of WATCH_EXECUTE; of WATCH_DEBUG: file of gdb commands, or NULL */
	const char *program;
	FILE *lines; /* where hits are printed; flushed after each line */
	/* Called for every hit that is shown; NULL: nobody. The finding stays the watch's. */
	void (*deliver)(void *context, const struct finding *finding);
	void *context;
};

struct watch;

/* 0; -EINVAL when an expression cannot be read, and said why. */
int watch_create(struct watch **watch, const struct watch_options *options);
struct control_observer watch_observer(struct watch *watch);
/* Blocks of the heap are asked for: the program must tell of its allocations. */
bool watch_needs_heap(const struct watch *watch);
/* Before the program starts. */
void watch_attach(struct watch *watch, struct control *control);
/* True when the program was ended because an expression cannot be watched in it, and said why. */
bool watch_refused(const struct watch *watch);
/* … but it may mean something in what the process is now, which it became at that moment. */
bool watch_changed(const struct watch *watch);
/* The program has ended, the controller not yet: prints what was counted. */
void watch_finish(struct watch *watch);
void watch_destroy(struct watch *watch);

#endif
