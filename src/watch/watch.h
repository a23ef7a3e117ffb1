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

#define WATCH_DEBUG_HOLD 60000000000ull /* ns that a thread is held for a debugger to attach */

struct watch_options {
	const char *const *expression;
	unsigned expressions;
	bool outside; /* the program runs already, without a library of ours */
	/* `outside`, but with our handler in it, since threads must wait when blocks of the heap
	 * are asked for; watch_create() sets it */
	bool entered;
	/* names that are unknown at the start may come with a module that is loaded later */
	bool later;
	bool repoint;  /* follow pointers again when they change */
	bool regions;  /* the program has the library that can open regions */
	bool children; /* watch forked and executed children too */
	bool stack;    /* print the whole stack */
	/* slots may rest to keep to a budget; values then help to count what was not seen */
	bool sampled;
	bool stack_needed; /* each hit is unwound, for the output */
	struct condition condition;
	const char *thread; /* glob of the names of threads whose hits are shown; NULL: of all */
	/* function whose hits are not shown when it is on the stack; NULL: none */
	const char *not_from;
	uint64_t first, every; /* print at most `first` lines, and one hit in `every`; 0: all */
	uint64_t after;	       /* ns from the start before which nothing is shown or counted */
	struct top *top;       /* shows a table of places instead of lines; NULL: lines */
	enum watch_action action;
	/* WATCH_EXECUTE: the command; WATCH_DEBUG: a file of gdb commands, or NULL */
	const char *command;
	const char *program;
	FILE *lines; /* where hits are printed; flushed after each line */
	/* Called for every hit that is shown; NULL: nobody. The finding stays the watch's. */
	void (*deliver)(void *context, const struct finding *finding);
	void *context;
};

struct watch;

/* 0; or -EINVAL, having said why, if an expression cannot be read. */
int watch_create(struct watch **watch, const struct watch_options *options);
struct control_observer watch_observer(struct watch *watch);
/* Does an expression ask for blocks of the heap? Then the program must tell of its allocations. */
bool watch_needs_heap(const struct watch *watch);
/* Called before the program starts. */
void watch_attach(struct watch *watch, struct control *control);
/* True: the program was ended, because an expression cannot be watched in it; it was said why. */
bool watch_refused(const struct watch *watch);
/* True: it was refused while the process became another program, in which the expression may mean
 * something. */
bool watch_changed(const struct watch *watch);
/* Prints what was counted. Called when the program has ended and before the controller ends. */
void watch_finish(struct watch *watch);
void watch_destroy(struct watch *watch);

#endif
