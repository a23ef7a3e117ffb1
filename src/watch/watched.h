/* SPDX-License-Identifier: Apache-2.0 */
/* A process of the program, and what is watched in it. */
#ifndef WATCH_WATCHED_H
#define WATCH_WATCHED_H

#include "record/area.h"
#include "record/filter.h"
#include "watch/heap_entered.h"
#include "watch/piece.h"
#include "watch/watch.h"

#include <sys/types.h>

/* A place taught to the handlers of a process. */
struct taught {
	bool known; /* a program that writes keys of its own has places that nobody taught it */
	int slot;
	int place; /* index in struct watch's; -1: its hits are not wanted */
};

/* A thread's own copy of what a slot watches. */
struct copy {
	unsigned slot;
	pid_t tid;
	struct piece piece;
	struct copy *next;
};

struct thread {
	pid_t tid;
	uint64_t pointer;
	bool waits; /* some variable's copy is not there yet */
	struct thread *next;
};

struct watched {
	pid_t pid;
	bool begun;		/* it runs, and may be loading modules */
	bool may_open;		/* the program waits, and opens regions before it goes on */
	bool silent;		/* a debugger has the hardware */
	struct thread *threads; /* that are known, with their thread pointers */
	unsigned thread_count, thread_sweep; /* ended ones are looked for from so many on */
	struct copy *copies;
	uint64_t linker_call, linker_record; /* 0: not known */
	bool scouted;			     /* scouts watch for everything that may change */
	uint64_t next_look;		     /* when nobody else has seen a change */
	bool told_lost;			     /* of its regions */
	struct piece piece[AREA_WATCHES];
	bool resolved[WATCH_EXPRESSIONS];
	bool may_unload[WATCH_EXPRESSIONS]; /* it came with a module loaded later */
	bool given_up[WATCH_EXPRESSIONS];   /* it cannot become watchable in this process */
	struct symbol_target target[WATCH_EXPRESSIONS];
	struct heap_entered heap;	     /* where the process ran already */
	struct taught taught[FILTER_PLACES]; /* by their index in struct filter_process */
	struct watched *next;
};

struct watched *watch_find(const struct watch *watch, pid_t pid);
/* Give all hardware back for a while: what is watched meanwhile is noted and armed again by
 * watch_resume(). */
void watch_silence(struct watch *watch, struct watched *process);
void watch_resume(struct watch *watch, struct watched *process);

#endif
