/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a watched program remembers of some of its heap's blocks: who allocated them, where and
 * when, and who has freed them. It lies in the program's own memory, so that a forked child has its
 * own copy, as it has of the blocks; the controller reads it from outside when it has something to
 * say of a block. Its contents are the program's: every number is bounded before use.
 *
 * A block has one place, by its address. Whoever comes to a place that is taken replaces what is
 * there: memory is bounded, and no chain is ever walked.
 *
 *	entry[i].block	0, the block's address, or that with ALLOCATION_FREED
 *	record[i]	the rest of it; `sequence` is odd while it is written
 *
 * A record is written by the thread that made `sequence` odd by compare-and-swap; another that
 * comes meanwhile gives up. `block` is stored last (release) and is marked as freed, by
 * compare-and-swap, before the block is given back: no later block of the address can be taken for
 * it.
 */
#ifndef RECORD_ALLOCATION_H
#define RECORD_ALLOCATION_H

#include <stdint.h>
#include <sys/types.h>

#define ALLOCATION_ENTRIES 4096 /* a power of two */
#define ALLOCATION_FRAMES 24
#define ALLOCATION_NAME 16 /* of a thread, with the final zero (TASK_COMM_LEN) */
#define ALLOCATION_FREED 1u
#define ALLOCATION_ALIGNMENT 16u /* of blocks: another one is not remembered */

struct allocation_event {
	uint64_t time; /* CLOCK_MONOTONIC ns; 0: has not been */
	int32_t tid;
	uint32_t frames;
	char thread[ALLOCATION_NAME];
	uint64_t frame[ALLOCATION_FRAMES]; /* return addresses, innermost first */
};

struct allocation_entry {
	_Atomic uint64_t block;
	_Atomic uint64_t size; /* as asked for */
};

struct allocation_record {
	_Atomic uint32_t sequence;
	struct allocation_event allocated, freed;
};

struct allocation_table {
	struct allocation_entry entry[ALLOCATION_ENTRIES];
	struct allocation_record record[ALLOCATION_ENTRIES];
};

/* How blocks are chosen. Written by the controller before the program starts. */
struct allocation_choice {
	_Atomic uint32_t on;
	uint32_t all;	 /* every one, at whatever cost */
	uint32_t births; /* the thread tells of each that is remembered, and waits */
	uint32_t parts;	 /* of the program's time that remembering may take, per 10,000 */
};

static inline uint32_t allocation_place(uint64_t block)
{
	return (uint32_t)(block / ALLOCATION_ALIGNMENT * 0x9e3779b97f4a7c15ull >> 40) %
	       ALLOCATION_ENTRIES;
}

#endif
