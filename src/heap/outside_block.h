/* SPDX-License-Identifier: Apache-2.0 */
/* A process that no library of ours is in, and the block that is watched there: what outside.c,
 * which chooses blocks, and outside_block.c, which follows them, share. Not for other files. */
#ifndef HEAP_OUTSIDE_BLOCK_H
#define HEAP_OUTSIDE_BLOCK_H

#include "heap/allocator.h"
#include "heap/chunk.h"
#include "heap/outside.h"

#define OUTSIDE_FRAMES 24
#define OUTSIDE_CONTEXTS 1024 /* counts of how often a caller's blocks were chosen */
#define OUTSIDE_WORD 8u
#define OUTSIDE_SLOTS 3u /* that a block takes from its birth on; a freed one one less */
#define OUTSIDE_DIE_WINDOW 100000000ull /* ns from a call of free() until it has done its work */

/* In the order of struct tl_registers: what a call returns, the stack, and what it is given. */
enum { OUTSIDE_RESULT = 0, OUTSIDE_STACK = 4, OUTSIDE_SECOND = 6, OUTSIDE_FIRST = 7 };

enum outside_phase {
	OUTSIDE_IDLE,
	OUTSIDE_ASKING,
	OUTSIDE_MAKING,
	OUTSIDE_LIVE,
	OUTSIDE_DYING,
	OUTSIDE_DEAD
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
	bool sought, able; /* was the allocator looked for, and is it one that is known? */
	enum outside_phase phase;
	uint64_t until; /* ns: the end of the phase */
	enum allocator_function asked;
	uint64_t cookie[OUTSIDE_ROLES];
	/* Of the block. */
	uint64_t address, length, serial;
	struct chunk chunk;
	bool binned;	/* as it was freed */
	uint64_t frame; /* the stack pointer where the call returns */
	uint64_t freer; /* identity of the thread that frees it */
	struct outside_moment made, freed;
	uint64_t free_reads_at; /* instruction by which free() looks at a block first; 0: not known
				 */
	uint8_t chosen[OUTSIDE_CONTEXTS];
};

struct outside_seen {
	const struct tl_access *access;
	struct tl_frame_place frames[OUTSIDE_FRAMES];
	int count;
	struct authorship by;
};

void outside_count(const struct heap *heap, const char *name);

/* Watches of a process, one of each role at a time. False: it could not be armed. */
bool outside_place(struct heap *heap, struct outside *outside, enum outside_role role,
		   const struct tl_watch *wanted);
bool outside_place_data(struct heap *heap, struct outside *outside, enum outside_role role,
			uint64_t address, unsigned length);
void outside_drop(struct heap *heap, struct outside *outside, enum outside_role role);

/* No block is watched any more; the next one comes soon. */
void outside_rest(struct heap *heap, struct outside *outside);
void outside_give_up(struct heap *heap, struct outside *outside, const char *why);
/* The next phase begins if what it needs is armed, and was in time: the thread is still held. */
bool outside_go_on(struct heap *heap, struct outside *outside, bool placed,
		   enum outside_phase phase, uint64_t time);
/* How long a block is watched, ns: by chance. */
uint64_t outside_watch_time(struct heap *heap);
void outside_note_moment(struct outside_moment *moment, const struct outside_seen *seen);
/* A hit of a watch at the block. */
void outside_at_block(struct heap *heap, struct outside *outside, enum outside_role role,
		      struct outside_seen *seen);

#endif
