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

/* One hardware slot of a process, or a region. */
struct piece {
	unsigned wanted;
	bool armed;
	bool scout; /* it belongs to no expression: when it trips, something is looked at again */
	enum heap_role role; /* what a scout is for that finds a block of the heap, or its end */
	bool region;	     /* a protection key watches it, not a hardware slot */
	bool each_thread;    /* of a thread-local variable: `address` is the offset in it */
	uint64_t start;	     /* where the whole begins that this is a piece of; 0: not known */
	uint64_t block;	     /* address of the block of the heap that it lies in; 0: none */
	uint64_t address;
	unsigned length;
	uint8_t *shadow;  /* a region's bytes, as the hits so far left them; may be NULL */
	bool value_known; /* of a thread's copy: `value` was read before the first hit there */
	uint64_t value;
};

unsigned slot_access(unsigned access);
/* How long a thread is held at its access, ns. */
uint64_t watch_hold(const struct watch *watch);
/* The largest naturally aligned piece at `address` within `length` bytes. */
unsigned piece_length(uint64_t address, uint64_t length);
int piece_free(const struct watched *process); /* index of a free slot, or -ENOSPC */
unsigned pieces_free(const struct watched *process);
/* slots, if it is aligned as well as can be */
unsigned pieces_needed(const struct symbol_target *target);
void piece_forget(struct piece *piece); /* frees the kept bytes of a region */
/* Arms slot `index` for the piece that stands in it already. */
int watch_arm_piece(struct watch *watch, struct watched *process, unsigned index);
/* Arms a free slot for the wish; -ENOSPC: none is free. */
int watch_arm_wish(struct watch *watch, struct watched *process, const struct piece *wish);
void watch_disarm_piece(struct watch *watch, struct watched *process, unsigned index);
/* Disarm all pieces of an expression; of a block; of an expression's part that begins at
 * `start`. */
void watch_disarm_wanted(struct watch *watch, struct watched *process, unsigned wanted);
void watch_disarm_block(struct watch *watch, struct watched *process, uint64_t block);
void watch_disarm_whole(struct watch *watch, struct watched *process, unsigned wanted,
			uint64_t start);

#endif
