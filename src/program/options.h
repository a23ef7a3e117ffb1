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

/* Percent. Holds take up to three tenths of a thread's time besides (control.c), so a program takes
 * at most 1.4 / 0.7 = 2 times as long. */
#define CONTROL_AGGRESSIVE_BUDGET 40

struct control_options {
	/* what chooses the watches (explore/strategy.h); NULL: choosing for races */
	const struct strategy *strategy;
	double budget;	 /* percent of the program's CPU time, and of any thread's time */
	unsigned slots;	 /* hardware slots for watches that the strategy chooses */
	unsigned placed; /* further hardware slots, for watches that tools place themselves */
	/* seconds of CPU time lent at the start; negative: the default loan */
	double loan;
	/* tools are told of sampled accesses to the thread's own stack, too */
	bool own_stacks;
	struct aim_list *aims; /* findings to watch first: record/aim.h; NULL: none */
	uint32_t without;      /* strategies that are off, one bit each: explore/heuristic.h */
	bool follow;	       /* children across fork and exec */
	/* find as much as possible, at up to twice the run time, with CONTROL_AGGRESSIVE_BUDGET */
	bool aggressive;
	/* which blocks are remembered; needs the library that interposes malloc() */
	enum control_allocations allocations;
	/* the observer's notice() is told of each such block before the program writes to it */
	bool births;
	bool guard;	      /* programs guard blocks of their heap; needs the library that does */
	bool kernel;	      /* watch what system calls touch, where permitted */
	uint64_t seed;	      /* of the random numbers; 0: taken from the clock */
	uint64_t start_delay; /* ns before the first watch */
	uint64_t duration;    /* ns after which watching stops; 0: until the end */
	uint64_t hold_most;   /* `--max-hold`: ns that a thread is held at a time; 0: one second */
	/* descriptor that gets what the program writes to a terminal; -1: the terminal does */
	int output;
	/* descriptor of an area that the program made; -1: the controller makes one */
	int area_fd;
	const char *reader; /* the reader's executable, as in struct symbol_options */
	/* globs of the modules whose code is, or is not, looked at */
	struct control_globs include, exclude;
};

void control_options_init(struct control_options *options);

#endif
