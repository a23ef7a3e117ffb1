/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guarded blocks: what a watched program keeps of the blocks of its heap that were chosen to be
 * looked after (src/guard), as the controller reads it from outside. It lies in the program's own
 * memory, so that a forked child has its own copy, as it has of the blocks. Its contents are the
 * program's: every number is bounded before use.
 *
 *	front                the block                 back
 *	+--------------------+-------------------------+--------------------+
 *	| secret pattern     | `size` bytes            | secret pattern     |
 *	+--------------------+-------------------------+--------------------+
 *	raw                  address                                        raw + room
 *
 * A block's place among GUARD_WAYS is found from its address. `entry` holds the address and, in its
 * low four bits, the state; the record of the same index the rest. States change by
 * compare-and-swap:
 *
 *	0 -> BUSY	by who makes the block, which fills the record
 *	BUSY -> LIVE	(release) the program has it
 *	LIVE -> DYING	by who frees it: of two that do one is too late
 *	DYING -> DEAD	(release) freed, not yet given back to the allocator: in the quarantine
 *	LIVE -> BUSY	by who moves it (realloc()), the entry being no address's meanwhile
 *	DEAD -> LEAVING	by who takes it out of the quarantine
 *	LEAVING -> 0	and only then the memory is given back
 *
 * So no later block of the same address is taken for it.
 */
#ifndef RECORD_GUARD_H
#define RECORD_GUARD_H

#include "record/allocation.h"

#include <stdatomic.h>
#include <stdint.h>

#define GUARD_BLOCKS 32768u /* a power of two */
#define GUARD_WAYS 4u	    /* a divisor of it */
#define GUARD_ALIGNMENT 16u /* of every guarded block's address, at least */
#define GUARD_CERTAIN 64u   /* contexts of which every block is chosen */
#define GUARD_PAGE 4096u
#define GUARD_PAGES 65536u /* of the address space for blocks on pages of their own */
#define GUARD_KEPT 4096u   /* bytes of a freed block whose last values are kept */

enum guard_state {
	GUARD_NONE,
	GUARD_BUSY,
	GUARD_LIVE,
	GUARD_DYING,
	GUARD_DEAD,
	GUARD_LEAVING,
};
#define GUARD_STATE_MASK 15ull

/* What a page's owner is while the run that it begins is taken: so many pages, all but the last of
 * the run, are to be filled at the first fault in one of them. Else the place of its block + 1. */
#define GUARD_PAGE_OPENS 0x80000000u
/* With it: the page begins so many runs of one page each, which are all to be filled. */
#define GUARD_PAGE_RUNS 0x40000000u

/* Runs that a process may ask for at a time: one for each thread that is about to make a block. */
#define GUARD_ASKS 16u
#define GUARD_FILLED 0x80000000u /* beside a page's number: what was asked for is there */

/* By which functions a block is made, and is to be freed. */
enum guard_family {
	GUARD_MALLOC,
	GUARD_NEW,
	GUARD_NEW_ARRAY,
	GUARD_NEW_ALIGNED, /* given an alignment, which is to be given to the delete, too */
	GUARD_NEW_ARRAY_ALIGNED,
};

struct guard_record {
	_Atomic uint64_t serial; /* of the block, never 0, never used again in this process */
	uint64_t size;		 /* as asked for */
	uint64_t raw, room;	 /* of the memory as it came from the allocator */
	uint64_t run;		 /* the pages of which it is, see src/guard/pages.h; 0: none */
	uint32_t pages;		 /* without the empty one */
	uint32_t seldom;	 /* of a context that allocates seldom: it is kept for longer */
	uint64_t context;	 /* a hash of where it was allocated */
	uint64_t kept;		 /* address of the freed block's first GUARD_KEPT bytes; 0: none */
	uint64_t checked;	 /* CLOCK_MONOTONIC ns: its patterns were whole then */
	uint64_t copied;	 /* bytes that realloc() is about to copy to its start */
	uint32_t family;	 /* enum guard_family */
	uint32_t zeroed;	 /* by calloc() */
	int32_t told;		 /* process whose controller was told of its birth; 0: none */
	uint32_t unkept;	 /* it goes back to the allocator as soon as it is freed */
	struct allocation_event allocated, freed; /* freed.time is 0 until it is */
};

/* A block as it was when the program told something of it. */
struct guard_told {
	uint64_t word; /* its entry; 0: it was about none */
	struct guard_record record;
};

struct guard_table {
	_Atomic uint64_t entry[GUARD_BLOCKS];
	struct guard_record record[GUARD_BLOCKS];
};

/* What the program tells at a guarded block or a call of free(), and waits for. */
enum guard_event {
	GUARD_BORN = 1, /* `address` of a block just made; not yet known to the program */
	GUARD_FREED,	/* it is in the quarantine from here on */
	GUARD_FREED_TWICE,
	GUARD_FREED_INSIDE,   /* free() of an address inside the block */
	GUARD_FREED_NO_BLOCK, /* free() of what lies on a stack or in a program file */
	/* By a function of another family, which `offset` tells, or as one of `length` bytes. */
	GUARD_FREED_OTHERWISE,
	GUARD_BROKEN_FRONT, /* a pattern was found broken; `offset` of the first byte from the … */
	GUARD_BROKEN_BACK,  /* … block's address, `length` up to the last */
	GUARD_BROKEN_DEAD,  /* a freed block has changed */
};

/* As the controller wishes it, before the program starts; and what its processes share. */
struct guard_choice {
	_Atomic uint32_t on;
	uint32_t all;	 /* every block that fits the memory */
	uint32_t pages;	 /* blocks may stand on pages of their own */
	uint32_t births; /* births are told, as far as the budget allows */
	uint32_t whole;	 /* with `all`: so many of contexts that are new have pages and are told,
			  * whatever that costs */
	uint32_t parts;	 /* of the program's time that guarding may take, per 10,000 */
	uint64_t loan;	 /* ns of guarding that contexts that are new may owe, all together */
	uint64_t often;	 /* ns: chosen again so soon, a context passes twice as many */
	uint64_t memory; /* bytes that freed blocks may keep from the program */
	/* CLOCK_MONOTONIC ns at which all is paid for that was lent to processes, one clock for all
	 * of them: where many begin each would else have a loan of its own. */
	_Atomic uint64_t lent_until;
	_Atomic uint32_t wholes; /* blocks so far, of all processes, up to `whole` */
	uint32_t paged;		 /* with `all`: so many first blocks stand on pages of their own */
	_Atomic uint32_t pageds; /* so far, of all processes */
	/* With `all` and `births`: so many first blocks of contexts are told. */
	uint32_t told;
	_Atomic uint32_t tolds; /* so far, of all processes */
	/* ns, of `loan`, that processes have taken for patterns: src/guard/care.h. */
	_Atomic uint64_t care_lent;
	_Atomic uint32_t bell;	  /* futex: raised when a process has asked for a run */
	_Atomic uint32_t heard;	  /* as the controller last saw it */
	_Atomic uint32_t unheard; /* as it was when somebody had waited in vain; 0: nobody has */
};

/* A context of which every block is chosen, by the return addresses into the program. */
struct guard_context {
	_Atomic uint64_t caller; /* of the allocation function; 0: free */
	_Atomic uint64_t above;	 /* of that one's; 0: whatever it is */
};

/* Of one process, in the area. */
struct guard_process {
	_Atomic uint64_t table; /* address of its struct guard_table; 0: none */
	/* Calls that have changed memory without an access to it (guard/change.c). */
	_Atomic uint32_t changes;
	_Atomic uint32_t changed;     /* raised when `certain` was */
	_Atomic uint64_t pages;	      /* address of the first of GUARD_PAGES; 0: none */
	_Atomic uint64_t owner;	      /* address of a uint32_t for each */
	_Atomic uint32_t descriptor;  /* + 1, while the process waits to be let go; 0: none */
	_Atomic uint32_t pages_seen;  /* the controller has a copy of it */
	_Atomic uint64_t chosen;      /* blocks */
	_Atomic uint64_t passed;      /* over budget */
	_Atomic uint64_t crowded;     /* no place in the table */
	_Atomic uint64_t left_out;    /* of busy contexts, ordinary ones for want of time */
	_Atomic uint64_t refused;     /* the allocator had no room for a block with its patterns */
	_Atomic uint64_t let_go;      /* freed blocks that left the quarantine */
	_Atomic uint64_t unkept;      /* freed blocks for which it had no room, or nobody time */
	_Atomic uint64_t unkept_time; /* of these, for want of time */
	/* Blocks for which there were no pages (any more), or nobody filled them in time. */
	_Atomic uint64_t unpaged;
	/* Raised before a page is filled that nobody asked for: it was touched. While it is 0 what
	 * was emptied is empty still. */
	_Atomic uint32_t touched;
	/* First page + 1 of runs that are asked for, until they are taken or given up; 0: free. */
	_Atomic uint32_t asked[GUARD_ASKS];
	struct guard_context certain[GUARD_CERTAIN];
};

static inline uint32_t guard_place(uint64_t address)
{
	return (uint32_t)(address / GUARD_ALIGNMENT * 0x9e3779b97f4a7c15ull >> 40) % GUARD_BLOCKS /
	       GUARD_WAYS * GUARD_WAYS;
}

static inline uint64_t guard_word(uint64_t address, enum guard_state state)
{
	return address | state;
}

static inline enum guard_state guard_state(uint64_t word)
{
	return (enum guard_state)(word & GUARD_STATE_MASK);
}

static inline uint64_t guard_address(uint64_t word)
{
	return word & ~GUARD_STATE_MASK;
}

#endif
