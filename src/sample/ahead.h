/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead: the memory accesses that a thread is about to make, as far as its registers and
 * memory tell, up to where it may wait for another: what another thread writes there meanwhile is
 * not ordered with them. Erickson et al. (DataCollider, OSDI 2010) look at one access,
 * Effinger-Dean et al. (IFRit, OOPSLA 2012) at a region without synchronisation; here that is
 * followed by carrying out its instructions on a copy of the registers.
 *
 * The thread itself may go on meanwhile. Run by the controller's thread alone.
 */
#ifndef SAMPLE_AHEAD_H
#define SAMPLE_AHEAD_H

#include "insn/forward.h"
#include "process/space.h"

/* Where the walk ended, and why. */
struct ahead_end {
	uint64_t pc; /* 0: not known */
	bool waited; /* it ended behind a call in which the thread may wait for another */
	/* pc behind the first call on the path that releases what other threads wait for; 0: there
	 * was none. */
	uint64_t released;
};

/* One access that was foretold. `steps`: instructions carried out before it; 0: it is made by the
 * instruction that the thread is at. */
typedef void ahead_fn(void *context, const struct insn_forward_access *access, unsigned steps);

/* Walks one path, `most` instructions at most, up to where the thread may wait. False: not even the
 * first instruction could be carried out. `end` may be NULL. */
bool ahead_walk(struct space *space, const struct insn_registers *from, unsigned most,
		ahead_fn *each, void *context, struct ahead_end *end);

#define AHEAD_LOCKS 2 /* known at an access; further ones are not */
#define AHEAD_ACCESSES 256

struct ahead_access {
	uint64_t pc; /* of the call, where a function of the C library is handed the memory */
	uint64_t address, length;
	unsigned access; /* TL_READ | TL_WRITE, TL_ATOMIC */
	/* Addresses of locks that the thread holds then; 0: none. */
	uint64_t lock[AHEAD_LOCKS];
	/* How often the thread has waited for others by then, other than for locks: an access
	 * before a barrier in one thread is ordered with one behind it in another. */
	unsigned phase;
	bool whole; /* seen by a walk of whole loops */
};
/* Added to a lock's address: other threads may hold the lock as well, for reading. */
#define AHEAD_SHARED 1ull

/* A thread that the walked one is about to create: its function and the argument of that. */
#define AHEAD_BIRTHS 4
struct ahead_birth {
	uint64_t start, argument;
};

struct ahead_view {
	struct ahead_access access[AHEAD_ACCESSES];
	unsigned accesses;
	struct ahead_birth birth[AHEAD_BIRTHS];
	unsigned births;
	/* The walk met a call that creates a thread, whether its function is known or not, on a way
	 * that does not wait for others before. */
	bool creates;
	bool cut;   /* there were more ways, or longer ones, than were walked */
	bool waits; /* a tour: one of its ways ended where the thread joins another or sleeps */
};

#define AHEAD_ALL_KNOWN 0xffffu
#define AHEAD_NEWBORN (1u << 4 | 1u << 7) /* rsp and rdi are known of a thread that begins */
/* What a called function keeps, and its result, are known of one that it returns to. */
#define AHEAD_RETURNED (INSN_KEPT_BY_CALLS | 1u << insn_arch.function_result)

/* Where a tour begins. */
struct ahead_start {
	struct insn_registers registers;
	uint16_t known; /* which general registers are known, a bit each */
	bool returns;	/* the tour goes on behind the end of the function that it begins in */
	bool awake;	/* the tour ends where the thread sleeps, whatever for */
	uint64_t time;	/* ns that it may take, about; 0: no bound */
	bool whole;	/* a second walk follows, whose loops run as often as is foretold */
};

/*
 * The same of a thread that stands before the first instruction of a function, or behind a call,
 * up to where it joins another, also behind barriers and conditions: every loop is left after a few
 * passes, whatever its condition says, so that what stands behind is seen as well; what a call is
 * bound to at its first time is followed. Accesses to the frames of functions that it calls, and of
 * the one that it is about to begin, are left out, those to its callers' are not.
 */
void ahead_tour(struct space *space, const struct ahead_start *from, unsigned most,
		struct ahead_view *view);

/* What it may do on any way from there, also behind waiting, with the locks that it takes on the
 * way: where a branch is not foretold both sides are walked. `known`: which general registers are,
 * a bit each. `most`: instructions. */
void ahead_spread(struct space *space, const struct insn_registers *from, uint16_t known,
		  unsigned most, struct ahead_view *view);

#endif
