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

/* A place that the handlers of a process were taught. */
struct taught {
	bool known; /* false: we did not teach it; a program can write any keys into its places */
	int slot;
	int place; /* index in struct watch's places; -1: its hits are not wanted */
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
	bool waits; /* a copy of some variable does not exist yet in this thread */
	struct thread *next;
};

struct watched {
	pid_t pid;
	bool begun;		/* the process runs, and may be loading modules */
	bool may_open;		/* the program waits, and will open regions before it goes on */
	bool silent;		/* a debugger has the hardware */
	struct thread *threads; /* the threads that are known, with their thread pointers */
	/* with `thread_sweep` threads known, ended ones are looked for */
	unsigned thread_count, thread_sweep;
	struct copy *copies;
	uint64_t linker_call, linker_record; /* 0: not known */
	bool scouted;			     /* scouts are out for everything that may change */
	/* ns: when to look again though no scout has tripped */
	uint64_t next_look;
	bool told_lost; /* it was said that its regions are lost */
	struct piece piece[AREA_WATCHES];
	bool resolved[WATCH_EXPRESSIONS];
	bool may_unload[WATCH_EXPRESSIONS]; /* it came with a module loaded later */
	bool given_up[WATCH_EXPRESSIONS];   /* it cannot become watchable in this process */
	struct symbol_target target[WATCH_EXPRESSIONS];
	struct heap_entered heap;	     /* for a process that ran before the watch */
	struct taught taught[FILTER_PLACES]; /* by the places' index in struct filter_process */
	struct watched *next;
};

struct watched *watch_find(const struct watch *watch, pid_t pid);
/* Gives all hardware back for a while: notes what is watched; watch_resume() arms that again. */
void watch_silence(struct watch *watch, struct watched *process);
void watch_resume(struct watch *watch, struct watched *process);

#endif
