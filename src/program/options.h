/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked for, as the controller takes it. */
#ifndef PROGRAM_OPTIONS_H
#define PROGRAM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_GLOBS_MAX 64

struct control_globs {
	const char *glob[CONTROL_GLOBS_MAX];
	size_t count;
};

struct aim_list;
struct strategy;

/* Which blocks of the heap the program is to remember. */
enum control_allocations {
	CONTROL_ALLOCATIONS_NONE,
	CONTROL_ALLOCATIONS_SAMPLED,
	CONTROL_ALLOCATIONS_ALL,
};

/* Percent. Holds take three tenths of a thread's time besides (control.c): 1.4 / 0.7 is twice. */
#define CONTROL_AGGRESSIVE_BUDGET 40

struct control_options {
	const struct strategy *strategy; /* what is watched: explore/strategy.h; NULL: choosing */
	double budget;	       /* percent of the program's CPU time, and of any thread's time */
	unsigned slots;	       /* hardware slots used for what is chosen here … */
	unsigned placed;       /* … and so many more for watches that tools place themselves */
	double loan;	       /* seconds of CPU time lent at the start; negative: the usual */
	bool own_stacks;       /* samples of accesses to the thread's own stack are told, too */
	struct aim_list *aims; /* findings to watch first: record/aim.h; NULL: none */
	uint32_t without;      /* strategies that are off, one bit each: explore/heuristic.h */
	bool follow;	       /* children across fork and exec */
	bool aggressive; /* find as much as possible at up to twice the time, with this budget: */
	enum control_allocations allocations; /* needs the library that interposes malloc() */
	bool births; /* of those blocks, for the observer's notice(): they have not been written yet
		      */
	bool guard;  /* programs guard blocks of their heap; needs the library that does */
	bool kernel; /* watch what system calls touch, where permitted */
	uint64_t seed;	      /* 0: from the clock */
	uint64_t start_delay; /* ns before the first watch */
	uint64_t duration;    /* ns after which watching stops; 0: until the end */
	uint64_t hold_most;   /* ns that a thread is held at a time; 0: a second. `--max-hold`. */
	int output;	    /* where the program's output goes instead of a terminal; -1: nowhere */
	int area_fd;	    /* of an area that the program made; -1: make one */
	const char *reader; /* struct symbol_options says what it is */
	struct control_globs include, exclude; /* modules whose code is looked at */
};

void control_options_init(struct control_options *options);

#endif
