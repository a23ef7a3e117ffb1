/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guarding blocks of the heap, inside the program: which are chosen (choose.c), how they are made
 * and checked (block.c), where they are found again (table.c), what becomes of them when they are
 * freed (release.c, quarantine.c, granule.c, vacate.c), and what is told (tell.c).
 * The functions in whose place we stand are in interpose.c and operators.c. Everything here may run
 * in a signal handler of the program's that allocates; nothing waits for another thread but for the
 * controller's answer to what is told, which is bounded.
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

/* A free place for a block there, now BUSY; GUARD_NOWHERE: all of its ways are taken. */
uint32_t guard_claim(uint64_t address);
/* Of the blocks in the quarantine that take this address's ways, the one that is there for longest.
 */
uint32_t guard_oldest_dead(uint64_t address);
/* Where the block of exactly this address is, in whichever state. */
uint32_t guard_find(uint64_t address);
/* Is the address that of a block there, or in it, its patterns included? */
bool guard_is_around(uint32_t place, uint64_t address);
/* Where the block around the address is: among those of the allocator's memory that begin in the
 * 1 KiB before it, or among all. */
uint32_t guard_find_around(uint64_t address, bool all);
bool guard_change(uint32_t place, enum guard_state from, enum guard_state to);
/* The place is free from here on. */
void guard_drop(uint32_t place);
/* A block's memory, with all of its pages. */
struct guard_ground {
	uint64_t start, length;
};
struct guard_ground guard_ground(const struct guard_record *record);
/* Of the freed blocks so far, the length of the longest ground. */
extern _Atomic uint64_t guard_longest;

/*
 * Is the word a freed block's that may have memory between the two addresses of the program's? By
 * its own address, which is on its ground. The length is looked at after the word: it was noted
 * before that said DEAD. Who asks goes through all words, of which nearly all are far away.
 */
static inline bool guard_may_reach(uint64_t word, uint64_t from, uint64_t to)
{
	int64_t length = (int64_t)atomic_load_explicit(&guard_longest, memory_order_relaxed);
	bool behind = (int64_t)(from - guard_address(word)) < length;
	bool before = (int64_t)(guard_address(word) - to) < length;

	return (behind & before) && guard_state(word) == GUARD_DEAD;
}

/* Of a block: sums with its surroundings stay far from overflowing. */
#define GUARD_SIZE_MOST (1ull << 40)

/* A live block that is about to move is found by nobody: its address may be another's by the time
 * that it has moved. False: somebody frees it. */
bool guard_hide(uint32_t place, uint64_t address);
/* It has moved, and the place is free; or it has not, and is live again. */
void guard_drop_hidden(uint32_t place);
void guard_show(uint32_t place, uint64_t address);

/*
 * A byte for each granule of memory, by a hash: how many guarded blocks begin there. Whoever frees
 * looks here first, so it is small enough to stay in the innermost cache. 255 stays 255.
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
	bool told;   /* of its birth, before the program has it */
	bool pages;  /* of its own, where there are any */
	bool seldom; /* of a context that allocates seldom */
	bool unkept; /* when it is freed */
	bool behind; /* an empty page, rather than before one */
	enum guard_family family;
	uint64_t context;
	/* Called when all ways of the address are taken; false: they stay so. */
	bool (*make_place)(uint64_t address);
};

/* Where a block stands: in memory of the allocator's, or on pages of its own. */
struct block_ground {
	uint64_t raw, address;
	size_t room;
	uint64_t run; /* 0: it is the allocator's */
	uint32_t pages;
};

/* Where a guarded block is; GUARD_NOWHERE: it could not be made, and an ordinary one is to be. */
uint32_t block_make(const struct guard_wish *wish, struct allocation_caller caller);

/* What was found broken, from the first such byte to the last, as offsets from the block. */
struct block_damage {
	int64_t offset;
	uint32_t length; /* 0: nothing */
};
/* Before the block, behind it, and in a freed one itself. */
struct block_damages {
	struct block_damage front, back, block;
};
/* Of a live block. Nothing is touched as the program touches it: what is watched is not tripped.
 * Not `alone`: other threads may free it at any moment, so the kernel reads it, or nobody. */
struct block_damages block_check(const struct guard_record *record, uint64_t address, bool alone);
/* The same of one that is being freed: its last values are kept in memory of the allocator's. */
struct block_damages block_check_and_keep(struct guard_record *record, uint64_t address);
/* Of one in the quarantine. */
struct block_damages block_check_dead(const struct guard_record *record, uint64_t address);
/* Patterns as they were, so that one damage is told once. */
void block_repair(const struct guard_record *record, uint64_t address);
/* Bytes that the block keeps from the program while it is in the quarantine. */
uint64_t block_cost(const struct guard_record *record);
/* Its memory goes back to the allocator. The place is no longer the block's. */
void block_give_back(const struct block_ground *ground, uint64_t kept);

/* A hidden block of this address becomes one of another size, at another address as a rule, in
 * whatever way the allocator does that; its place is free then. What the program has from now on;
 * NULL: there is no memory, and nothing has changed. */
void *block_move(uint32_t place, uint64_t address, size_t size, struct allocation_caller caller,
		 bool (*make_place)(uint64_t address));

/* How a block is freed: by a function of which family and, where its caller says so, of which size.
 */
struct guard_end {
	enum guard_family family;
	size_t size; /* 0: not said */
};

/* ---- release.c ------------------------------------------------------------------------------ */

/* free() of what is suspect. True: it has been seen to; else it goes on to the allocator. */
bool release(void *block, struct guard_end end, struct allocation_caller caller);
/* What is to be freed begins no guarded block, and is suspect. True: it is no block at all, which
 * was told. */
bool release_refuse(const void *block, struct allocation_caller caller);
/* realloc() of a block that is not suspect to be anything but live, without a copy of it. False: it
 * is to be copied. Else *moved is what realloc() returns. */
bool release_move(uint32_t place, uint64_t address, size_t size, struct allocation_caller caller,
		  void **moved);
/* All that there are, as the process ends. */
void release_check_all(void);
/* The program limits its memory to so many bytes; 0: not at all. */
void release_limit(uint64_t bytes);
/* It is about to limit or to lock it: what we have of it that no block in use needs goes back. */
void release_room(void);
/* A block leaves the quarantine early, for one that would else not be guarded. */
bool release_make_place(uint64_t address);
/* So do those that have memory between the two addresses; `may_free`: to the allocator. */
void release_range(uint64_t from, uint64_t to, bool may_free);

/* ---- quarantine.c --------------------------------------------------------------------------- */

/* False: there is no room for it. Older blocks leave, each LEAVING when `left` is called. */
bool quarantine_put(uint32_t place, void (*left)(uint32_t place));
/* What the program limits its memory to; 0: nothing. Blocks leave that have no room any more: by
 * and by, or at once. */
void quarantine_note_limit(uint64_t bytes);
void quarantine_limit(uint64_t bytes, void (*left)(uint32_t place));
/* Before its turn. False: it has left already. */
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
/* Of a call that is refused: what the program handed to free(). */
bool tell_refused(enum guard_event event, const void *address, uint32_t place,
		  struct allocation_caller caller);

static inline bool guard_is_quiet(void)
{
	const struct area_process *process = agent_state.process;

	return !process || atomic_load_explicit(&process->quiet, memory_order_relaxed);
}

#endif
