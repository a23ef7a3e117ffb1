/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead while it walks: the way that it is on, and those that it has put aside. Private to
 * ahead.c, looking.c, by which memory is read, found.c, where accesses are noted, and call.c, which
 * knows what functions of libraries do that are not followed.
 */
#ifndef SAMPLE_SPREADING_H
#define SAMPLE_SPREADING_H

#include "base/lines.h"
#include "sample/ahead.h"

#define LINES 32    /* of the program's memory, kept while one look lasts */
#define PATHS_MAX 8 /* branched off, and still to be walked */
#define BRANCHES_MAX 64
#define EXITS_MAX 8	/* of a tour: the branches passed last, by which a loop may be left */
#define CALLEES 1048576 /* bytes below a frame that are taken for frames of functions it calls */
#define BOUND_MOST 32	/* calls whose binding is kept while one look lasts */
/* What the program's allocator returns on the way: no address that a process has, since the kernel
 * maps none there unless it is asked to. One block each, this far apart. */
#define BLOCKS 0x480000000000ull
#define BLOCK_SIZE (1ull << 30)
#define BLOCKS_MOST 256

struct looking {
	struct space *space;
	ahead_fn *each;
	void *context;
	unsigned steps;
	struct lines lines;
	struct line line[LINES];
};

/* One way that the thread may take. */
struct path {
	struct insn_forward forward;
	uint64_t lock[AHEAD_LOCKS];
	uint64_t call; /* pc of its last call; 0: none */
	unsigned phase;
	bool waited; /* for others, at semaphores, too */
};

struct spreading {
	struct looking looking;
	struct path path;	     /* the one that is walked now */
	struct path left[PATHS_MAX]; /* those that are still to be walked */
	unsigned paths;
	struct branch {
		uint64_t pc;
		unsigned passes;
	} branch[BRANCHES_MAX];
	unsigned branches;
	uint64_t tour;	     /* of ahead_tour(): the stack pointer that it began with; else 0 */
	bool returns, awake; /* of struct ahead_start */
	uint64_t until;	     /* CLOCK_MONOTONIC ns */
	bool whole;	     /* a loop is walked as often as the thread will */
	unsigned blocks;     /* allocated on the way */
	struct bound {
		uint64_t map, index, address; /* 0: not known, or it never returns */
	} bound[BOUND_MOST];
	unsigned bindings;
	struct exit {
		uint64_t pc, to; /* a branch, and where it did not lead */
	} exit[EXITS_MAX];
	unsigned exits;
	struct ahead_view *view;
};

/* found.c: an access on the way. */
void spreading_find(struct spreading *spreading, uint64_t pc, uint64_t address, uint64_t length,
		    unsigned access);
bool spreading_is_new(uint64_t address); /* of a block allocated on the way */

/* looking.c: memory as it is, but for such blocks; `context` is a struct looking. */
void looking_begin(struct looking *looking, struct space *space, ahead_fn *each, void *context);
int looking_read(void *context, uint64_t address, void *to, size_t length);

/* call.c: a function of the C library has been entered. */
enum spreading_stub {
	SPREADING_NO_STUB,
	SPREADING_BOUND, /* of a call at its first time: it goes to where it would be bound */
	SPREADING_LOST,	 /* that is not known, or never comes back */
};
enum spreading_stub spreading_bind(struct spreading *spreading);
/* A function of the C library has been entered, and is left again, with what it does noted. 0 or
 * -errno: the path ends. */
int spreading_pass(struct spreading *spreading);

#endif
