/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a watched program tells besides hits, and waits for: that a thread begins, that a block of
 * the heap was allocated or is about to be freed, that a guarded block is born or found broken
 * (guards.h). Beside that the room reads what the program remembers of its blocks (allocations.h).
 *
 * Promised: a notice is told once, in the order of the hits among which it was made, and its thread
 * goes on when its record has been taken back (notice_answer()). What the program says is bounded
 * and checked before it is told; it may still be untrue. The controller's thread runs all of it.
 */
#ifndef NOTICE_NOTICE_H
#define NOTICE_NOTICE_H

#include "target/target.h"

struct guards_notice;

enum notice_kind { NOTICE_THREAD_BEGINS, NOTICE_BLOCK_ALLOCATED, NOTICE_BLOCK_FREED };

struct notice {
	enum notice_kind kind;
	/* pid, tid, time, pc and stack of the thread; no access. */
	const struct tl_access *from;
	uint64_t address; /* the thread's pointer, or the block */
	uint64_t size;	  /* of the block allocated */
};

/* What a program tells, by records whose threads wait until the controller has taken them back. */
struct notice_events {
	void (*notice)(struct program *program, const struct notice *notice);
	void (*guard)(struct program *program, const struct guards_notice *notice);
};

struct notices {
	const struct notice_events *events;
};

/* Tells a notice by its record. */
void notice_tell(struct target *target, const struct area_hit *record);
/* Wakes the thread whose record has been taken back. */
void notice_answer(struct program *program, uint32_t process);
/* A thread was met in another way: tells of it as if it began now. */
void notice_thread(struct target *target, pid_t tid, uint64_t pointer);

/* Blocks of `size` bytes give notice; 0 ends that. `index` < AREA_SIZES. */
void notice_want_blocks(struct program *program, pid_t pid, unsigned index, uint64_t size);
/* The freeing of this block gives notice. 0, or -ENFILE: AREA_BLOCKS are watched. */
int notice_note_block(struct program *program, pid_t pid, uint64_t block);
/* False also once the block is freed, where what is freed is remembered (allocation/): a hit there
 * that is told while this is true was made before. */
bool notice_has_block(struct program *program, pid_t pid, uint64_t block);
void notice_forget_block(struct program *program, pid_t pid, uint64_t block);

#endif
