/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of the heap in a process that ran before the watch: no library in it tells of
 * allocations. */
#ifndef WATCH_HEAP_ENTERED_H
#define WATCH_HEAP_ENTERED_H

#include "symbol/expression.h"

#include <stdbool.h>
#include <stdint.h>

struct piece;
struct symbol_modules;
struct trace;
struct watch;
struct watched;

#define HEAP_ENTRIES 3 /* the functions malloc(), calloc() and realloc() */

/* What a slot is used for that watches nothing of what the user asked for. */
enum heap_role { HEAP_NONE, HEAP_FUNCTION, HEAP_ENTRY, HEAP_RETURN, HEAP_HEADER };

enum heap_phase { HEAP_IDLE, HEAP_ASKING, HEAP_CALLED, HEAP_MAKING, HEAP_LIVE };

/* The one block of a process that is looked for or watched. */
struct heap_entered {
	/* addresses of the allocator's functions, in that order; 0: the process has none */
	uint64_t entry[HEAP_ENTRIES];
	enum heap_phase phase;
	/* CLOCK_MONOTONIC, ns, when the phase ends; HEAP_LIVE does not end by it */
	uint64_t until;
	unsigned wanted; /* index of the expression whose block it is */
	unsigned calls;	 /* calls of the allocator that were looked at in this phase */
	uint64_t maker;	 /* identity of the thread that allocates */
	uint64_t frame;	 /* its stack pointer once the call has returned */
	uint64_t block;
	uint64_t dropped; /* the process's lost hits when the block came to be watched */
};

/* 0; -ENOSPC: too few slots are free; -EINVAL, with a sentence: the process's allocator is not
 * glibc's. */
int heap_entered_begin(struct watched *process, unsigned index, struct symbol_modules *modules,
		       char error[SYMBOL_ERROR_MAX]);
/* A slot with a role was hit: takes the step that follows. */
void heap_entered_hit(struct watch *watch, struct watched *process, const struct piece *piece,
		      const struct trace *trace);
/* Asked at each hit in the block: is it still the block that is watched? False: a hit was lost or a
 * slot was opened anew, so the block's end may have been missed, and it is no longer watched. */
bool heap_entered_is_live(struct watch *watch, struct watched *process);
/* Called some 50 times a second: ends phases whose time is over and begins the next. */
void heap_entered_tick(struct watch *watch, struct watched *process);

#endif
