/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: blocks of the heap that are guarded, inside the program. Which are chosen (choose.c),
 * how they are made and checked (block.c), where they are found again (table.c), what becomes of
 * them when they are freed (release.c, quarantine.c, granule.c, vacate.c), and what is told
 * (tell.c). The allocation functions that we replace are in interpose.c and operators.c. The
 * program's own threads run all of it, maybe in a signal handler that allocates. It promises to
 * take no lock and to wait for no other thread, except, for a bounded time, for the controller's
 * answer to what is told.
 */
#ifndef GUARD_GUARD_H
#define GUARD_GUARD_H

#include "agent/state.h"
#include "allocation/allocation.h"
#include "contact/notice.h"
#include "record/guard.h"

#include <stdbool.h>
#include <stddef.h>

extern struct guard_table guard_table;

/* ---- table.c -------------------------------------------------------------------------------- */

#define GUARD_NOWHERE UINT32_MAX

/* Takes a free place in the table for a block at this address; it is BUSY then. GUARD_NOWHERE: all
 * places that such an address may have (its ways) are taken. */
uint32_t guard_claim(uint64_t address);
/* Of the blocks in the quarantine that take this address's ways the one that has been there for
 * longest. */
uint32_t guard_oldest_dead(uint64_t address);
/* Where the block of exactly this address is, in whichever state. */
uint32_t guard_find(uint64_t address);
/* Does the address lie in the block at that place, its patterns included? */
bool guard_is_around(uint32_t place, uint64_t address);
/* The place of the block around the address. Looked for among blocks in the allocator's memory that
 * begin in the 1 KiB before it or, with `all`, among all blocks. */
uint32_t guard_find_around(uint64_t address, bool all);
bool guard_change(uint32_t place, enum guard_state from, enum guard_state to);
/* The place is free from here on. */
void guard_drop(uint32_t place);
/* A block's memory, with all of its pages. */
struct guard_ground {
	uint64_t start, length;
};
struct guard_ground guard_ground(const struct guard_record *record);
/* The length of the longest ground of any block that was freed so far. */
extern _Atomic uint64_t guard_longest;

/*
 * May the freed block of this word have memory between the two addresses? Told by the block's
 * address, which lies on its ground, and the longest ground there is. `guard_longest` is loaded
 * after the word and was raised before the word became DEAD, so it covers that block. Callers go
 * through all words, of which nearly all are far away.
 */
static inline bool guard_may_reach(uint64_t word, uint64_t from, uint64_t to)
{
	int64_t length = (int64_t)atomic_load_explicit(&guard_longest, memory_order_relaxed);
	bool behind = (int64_t)(from - guard_address(word)) < length;
	bool before = (int64_t)(guard_address(word) - to) < length;

	return (behind & before) && guard_state(word) == GUARD_DEAD;
}

/* Larger blocks are not guarded, so that sums of sizes and patterns cannot overflow. */
#define GUARD_SIZE_MOST (1ull << 40)

/* Hides a live block that is about to be moved by the allocator: by the time that it has moved its
 * old address may be another block's. False: another thread is freeing it. */
bool guard_hide(uint32_t place, uint64_t address);
/* After the move: frees the place; or, where it was not moved, makes the block live again. */
void guard_drop_hidden(uint32_t place);
void guard_show(uint32_t place, uint64_t address);

/*
 * How many guarded blocks begin in the granules of memory that share this byte, by a hash. Every
 * free() looks here first, so the table is small enough for the innermost cache. A byte that has
 * reached 255 stays there.
 */
#define GUARD_FILTER 8192u
extern _Atomic uint8_t guard_filter[GUARD_FILTER];

static inline uint32_t guard_filter_place(uint64_t address)
{
	return (uint32_t)(address / GUARD_ALIGNMENT * 0x9e3779b97f4a7c15ull >> 51);
}

/* ---- block.c -------------------------------------------------------------------------------- */

struct guard_wish {
	size_t size, alignment;
	size_t copied; /* bytes at its start that the caller is about to fill, by realloc() */
	bool zeroed;
	bool told;   /* the controller is told of its birth before the program has it */
	bool pages;  /* it is to stand on pages of its own, where there are any */
	bool seldom; /* of a context that allocates seldom */
	bool unkept; /* it is not kept when it is freed */
	bool behind; /* it is to stand behind an empty page rather than before one */
	enum guard_family family;
	uint64_t context;
	/* Called when all ways of the address are taken. False: no place was freed. */
	bool (*make_place)(uint64_t address);
};

/* The memory that a block stands in: the allocator's, or pages of its own. */
struct block_ground {
	uint64_t raw, address;
	size_t room;
	uint64_t run; /* 0: it is the allocator's */
	uint32_t pages;
};

/* Makes a guarded block and returns its place. GUARD_NOWHERE: it could not be made, and the caller
 * is to allocate an ordinary one. */
uint32_t block_make(const struct guard_wish *wish, struct allocation_caller caller);

/* The broken bytes of a pattern, from the first to the last; `offset` is from the block's address.
 */
struct block_damage {
	int64_t offset;
	uint32_t length; /* 0: nothing */
};
/* Of the pattern before the block, of that behind it, and in a freed block itself. */
struct block_damages {
	struct block_damage front, back, block;
};
/* Checks a live block's patterns. Watched bytes are read by the kernel, so that our reading trips
 * no watch. Without `alone` other threads may free the block at any moment: then the kernel reads
 * all of it, or it is not checked. */
struct block_damages block_check(const struct guard_record *record, uint64_t address, bool alone);
/* The same for a block that is being freed; in the allocator's memory its last values are kept as
 * well. */
struct block_damages block_check_and_keep(struct guard_record *record, uint64_t address);
/* The same for a block in the quarantine. */
struct block_damages block_check_dead(const struct guard_record *record, uint64_t address);
/* Writes the patterns anew, so that one damage is told once. */
void block_repair(const struct guard_record *record, uint64_t address);
/* Bytes that the block keeps from the program while it is in the quarantine. */
uint64_t block_cost(const struct guard_record *record);
/* Gives the memory back to the allocator. The place in the table must not be the block's any more.
 */
void block_give_back(const struct block_ground *ground, uint64_t kept);

/* Has the allocator make a hidden block one of another size, mostly at another address; its place
 * is free then. Returns the block that the program has from now on; NULL: there is no memory, and
 * nothing has changed. */
void *block_move(uint32_t place, uint64_t address, size_t size, struct allocation_caller caller,
		 bool (*make_place)(uint64_t address));

/* How a block is freed: by a function of which family and, where that is handed a size, as how
 * large. */
struct guard_end {
	enum guard_family family;
	size_t size; /* 0: not said */
};

/* ---- release.c ------------------------------------------------------------------------------ */

/* Frees a block that may be a guarded one. False: it is the allocator's to free. */
bool release(void *block, struct guard_end end, struct allocation_caller caller);
/* For what is to be freed and is no guarded block. True: it is no block at all; that was told, and
 * nothing is to be done. */
bool release_refuse(const void *block, struct allocation_caller caller);
/* realloc() of a live block without a copy of it: *moved is what realloc() returns. False: it has
 * to be copied. */
bool release_move(uint32_t place, uint64_t address, size_t size, struct allocation_caller caller,
		  void **moved);
/* Checks all blocks, as the process ends. */
void release_check_all(void);
/* The program limits its memory to so many bytes; 0: not at all. */
void release_limit(uint64_t bytes);
/* The program is about to limit or to lock its memory: gives back what we have of it and no block
 * in use needs. */
void release_room(void);
/* Has a block leave the quarantine early, so that another one can be guarded. */
bool release_make_place(uint64_t address);
/* Has all blocks leave it that have memory between the two addresses; with `may_free` their memory
 * goes back to the allocator. */
void release_range(uint64_t from, uint64_t to, bool may_free);

/* ---- quarantine.c --------------------------------------------------------------------------- */

/* Puts a freed block in. Older blocks leave for it; each of these is LEAVING when `left` is called.
 * False: there is no room. */
bool quarantine_put(uint32_t place, void (*left)(uint32_t place));
/* The program limits its memory to so many bytes; 0: it does not. Blocks that have no room any more
 * leave: by and by as others come, or at once. */
void quarantine_note_limit(uint64_t bytes);
void quarantine_limit(uint64_t bytes, void (*left)(uint32_t place));
/* Takes a block out before its turn. False: it has left already. */
bool quarantine_leave(uint32_t place, void (*left)(uint32_t place));

/* ---- granule.c ------------------------------------------------------------------------------ */

/* A freed block with so many bytes of the allocator's comes into the quarantine (1), or leaves it
 * (-1). */
void granule_note(uint64_t from, uint64_t length, int by);
/* May such a block have memory there? */
bool granule_is_noted(uint64_t from, uint64_t length);

/* ---- vacate.c ------------------------------------------------------------------------------- */

/* The program is about to map memory there, or to unmap what is there. Not for signal handlers
 * where a freed block lies there. */
void vacate(uint64_t from, uint64_t length);

/* ---- tell.c --------------------------------------------------------------------------------- */

bool tell_event(const struct agent_guard_notice *notice, struct allocation_caller caller);
bool tell_damage(uint32_t place, enum guard_event event, struct block_damage damage,
		 struct allocation_caller caller);
/* The same for a call of free() that does nothing: `address` is what the program handed to it. */
bool tell_refused(enum guard_event event, const void *address, uint32_t place,
		  struct allocation_caller caller);

static inline bool guard_is_quiet(void)
{
	const struct area_process *process = agent_state.process;

	return !process || atomic_load_explicit(&process->quiet, memory_order_relaxed);
}

#endif
