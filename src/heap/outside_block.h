/* SPDX-License-Identifier: Apache-2.0 */
/* A process that no library of ours is in, and the block that is watched there. Shared by
 * outside.c, which chooses blocks, and outside_block.c, which follows them; not for other files.
 * The controller's thread runs both. */
#ifndef HEAP_OUTSIDE_BLOCK_H
#define HEAP_OUTSIDE_BLOCK_H

#include "heap/allocator.h"
#include "heap/chunk.h"
#include "heap/outside.h"

#define OUTSIDE_FRAMES 24
#define OUTSIDE_CONTEXTS 1024 /* counts of how often a context's blocks were chosen, by a hash */
#define OUTSIDE_WORD 8u
/* Slots that a block needs from its birth on; one that is chosen as it is freed needs one less. */
#define OUTSIDE_SLOTS 3u
#define OUTSIDE_DIE_WINDOW 100000000ull /* ns from a call of free() until it has done its work */

/* Places in struct tl_registers: of a call's result, the stack pointer, and the second and first
 * argument. */
enum { OUTSIDE_RESULT = 0, OUTSIDE_STACK = 4, OUTSIDE_SECOND = 6, OUTSIDE_FIRST = 7 };

enum outside_phase {
	OUTSIDE_IDLE,	/* nothing is watched; after `until` a block is asked for */
	OUTSIDE_ASKING, /* a function of the allocator is watched for its next call */
	OUTSIDE_MAKING, /* a thread is in the call that makes the block */
	OUTSIDE_LIVE,	/* the block is live and watched */
	OUTSIDE_DYING,	/* a thread is in the call of free() */
	OUTSIDE_DEAD	/* the block is freed and watched */
};

enum outside_role {
	OUTSIDE_ENTRY,
	OUTSIDE_RETURN,
	OUTSIDE_HEADER,
	OUTSIDE_LINK,
	OUTSIDE_OTHER,
	OUTSIDE_ROLES
};

struct outside_moment {
	uint64_t time;
	pid_t tid;
	uint64_t pcs[OUTSIDE_FRAMES];
	size_t count;
};

struct outside {
	struct outside *next;
	pid_t pid;
	struct allocator allocator;
	bool sought, able; /* the allocator was looked for; it is one that is known */
	enum outside_phase phase;
	uint64_t until; /* CLOCK_MONOTONIC, ns: when the phase ends by itself */
	enum allocator_function asked;
	uint64_t cookie[OUTSIDE_ROLES];
	/* Of the block. */
	uint64_t address, length, serial;
	struct chunk chunk;
	bool binned;	/* as it was freed */
	uint64_t frame; /* the stack pointer where the call returns */
	uint64_t freer; /* identity of the thread that frees it */
	struct outside_moment made, freed;
	uint64_t free_reads_at; /* the instruction by which free() accesses a block first; 0: not
				   known */
	uint8_t chosen[OUTSIDE_CONTEXTS];
};

struct outside_seen {
	const struct tl_access *access;
	struct tl_frame_place frames[OUTSIDE_FRAMES];
	int count;
	struct authorship by;
};

void outside_count(const struct heap *heap, const char *name);

/* Arms a watch; a process has one of each role at a time. False: it could not be armed. */
bool outside_place(struct heap *heap, struct outside *outside, enum outside_role role,
		   const struct tl_watch *wanted);
bool outside_place_data(struct heap *heap, struct outside *outside, enum outside_role role,
			uint64_t address, unsigned length);
void outside_drop(struct heap *heap, struct outside *outside, enum outside_role role);

/* Ends all watches of the block; the next block is chosen after a short while. */
void outside_rest(struct heap *heap, struct outside *outside);
void outside_give_up(struct heap *heap, struct outside *outside, const char *why);
/* Begins the next phase, of `time` ns at most, if what it needs was armed (`placed`) and in time,
 * which is while the thread of the hit is still held. False: the block is given up. */
bool outside_go_on(struct heap *heap, struct outside *outside, bool placed,
		   enum outside_phase phase, uint64_t time);
/* For how many ns a block is watched, drawn anew each time. */
uint64_t outside_watch_time(struct heap *heap);
void outside_note_moment(struct outside_moment *moment, const struct outside_seen *seen);
/* A watch at the block was hit. */
void outside_at_block(struct heap *heap, struct outside *outside, enum outside_role role,
		      struct outside_seen *seen);

#endif
