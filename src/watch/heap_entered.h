/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of the heap in a process that ran already, and tells of no allocation by itself. */
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

#define HEAP_ENTRIES 3 /* malloc(), calloc() and realloc() */

/* What a slot is for that watches nothing which the user asked for. */
enum heap_role { HEAP_NONE, HEAP_FUNCTION, HEAP_ENTRY, HEAP_RETURN, HEAP_HEADER };

enum heap_phase { HEAP_IDLE, HEAP_ASKING, HEAP_CALLED, HEAP_MAKING, HEAP_LIVE };

/* The one block that is looked for, or watched, in a process. */
struct heap_entered {
	uint64_t entry[HEAP_ENTRIES]; /* of the allocator's functions, in that order; 0: none */
	enum heap_phase phase;
	uint64_t until;	 /* CLOCK_MONOTONIC, ns: the end of the phase; LIVE has none */
	unsigned wanted; /* the expression */
	unsigned calls;	 /* of the allocator, that were looked at in this phase */
	uint64_t maker;	 /* identity of the thread that allocates */
	uint64_t frame;	 /* its stack pointer where the call returns */
	uint64_t block;
	uint64_t dropped; /* hits of the process until the block was watched */
};

/* 0; -ENOSPC: too few slots are free; -EINVAL with a sentence: its allocator is none that is known.
 */
int heap_entered_begin(struct watched *process, unsigned index, struct symbol_modules *modules,
		       char error[SYMBOL_ERROR_MAX]);
/* A hit of a slot with a role. */
void heap_entered_hit(struct watch *watch, struct watched *process, const struct piece *piece,
		      const struct trace *trace);
/* Asked at a hit in the block: is it still the one that is watched? False: its end may have been
 * missed, since a hit was lost or slots were opened anew, and it is watched no longer. */
bool heap_entered_is_live(struct watch *watch, struct watched *process);
/* Some 50 times a second. */
void heap_entered_tick(struct watch *watch, struct watched *process);

#endif
