/* SPDX-License-Identifier: Apache-2.0 */
/* What one hardware slot, or one region, of a process watches. */
#ifndef WATCH_PIECE_H
#define WATCH_PIECE_H

#include "symbol/target.h"
#include "watch/heap_entered.h"

#include <stdbool.h>
#include <stdint.h>

struct watch;
struct watched;

/* One hardware slot of a process. */
struct piece {
	unsigned wanted;
	bool armed;
	bool scout; /* of no expression: something is to be looked at again when it trips */
	enum heap_role role; /* of a scout that finds a block of the heap, and its end */
	bool region;	     /* no hardware's */
	bool each_thread;    /* a thread-local variable's: `address` is the offset in it */
	uint64_t start;	     /* of the whole that this is a piece of; 0: not known */
	uint64_t block;	     /* of the heap that it lies in; 0: none */
	uint64_t address;
	unsigned length;
	uint8_t *shadow;  /* of a region: its bytes, as far as hits told; may be NULL */
	bool value_known; /* of a thread's copy, before the first hit there */
	uint64_t value;
};

unsigned slot_access(unsigned access);
/* How long a thread is kept at its access, ns. */
uint64_t watch_hold(const struct watch *watch);
/* The largest naturally aligned piece at `address` within `length` bytes. */
unsigned piece_length(uint64_t address, uint64_t length);
int piece_free(const struct watched *process); /* or -ENOSPC */
unsigned pieces_free(const struct watched *process);
unsigned pieces_needed(const struct symbol_target *target); /* at the best alignment */
void piece_forget(struct piece *piece);			    /* the bytes of a region */
/* Takes the slot for the piece that is noted in it. */
int watch_arm_piece(struct watch *watch, struct watched *process, unsigned index);
/* Takes a slot that is free, or -ENOSPC. */
int watch_arm_wish(struct watch *watch, struct watched *process, const struct piece *wish);
void watch_disarm_piece(struct watch *watch, struct watched *process, unsigned index);
/* All pieces of an expression, of a block, of what begins at `start`. */
void watch_disarm_wanted(struct watch *watch, struct watched *process, unsigned wanted);
void watch_disarm_block(struct watch *watch, struct watched *process, uint64_t block);
void watch_disarm_whole(struct watch *watch, struct watched *process, unsigned wanted,
			uint64_t start);

#endif
