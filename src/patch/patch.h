/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the entry of a function becomes a jump while threads execute it. Five bytes, of which some
 * begin instructions (here: push, mov), and three steps, each followed by membarrier SYNC_CORE,
 * after which no CPU executes bytes it fetched before:
 *
 *	original    55 | 48 89 e5 | ..      push %rbp; mov %rsp,%rbp
 *	1 trapped   06 | 06 89 e5 | 61      each instruction that begins here is now a trap
 *	  --- the instant: callers that trap are sent to the new function from now on ---
 *	2 filled    06 | 06 xx xx | 61      bytes that begin no instruction
 *	3 jump      e9 | 06 xx xx | 61      jmp rel32: its distance contains the traps
 *
 * A trap is a byte that is no instruction in 64-bit mode, which raises SIGILL. Unlike int3's
 *SIGTRAP that is not blocked in our own handlers, and debuggers pass it on.
 *
 * The distance leads to a trampoline whose place was chosen so that the distance holds a trapping
 * byte wherever an instruction began (place.c). So a thread that was interrupted inside the bytes,
 * is in a signal handler above them, or returns into them, now or in an hour, traps at its next
 * instruction and is moved to a copy of the instructions (copy.c). No thread has to be looked at.
 *
 * Back: 1 a trap over e9; the instant; 2 and 3 the original bytes in the same order.
 *
 * A site belongs to an entry for good: traps may be delivered long after the bytes have changed.
 * Everything but the handlers runs under the lock of object.c.
 */
#ifndef PATCH_PATCH_H
#define PATCH_PATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trapline/patch.h>

#define PATCH_JUMP_LENGTH 5 /* e9 and a 32-bit distance */
#define PATCH_TRAP 0x06	    /* push %es elsewhere; invalid in 64-bit mode */
#define PATCH_SITES 1024
#define PATCH_COVERED_MAX 20 /* the last of them begins in the jump's bytes */

struct patch_site {
	uintptr_t start;  /* of the old function */
	uintptr_t entry;  /* where the jump goes: `start`, or after its endbr64 */
	uintptr_t beyond; /* the first instruction that the jump leaves alone */
	uint8_t original[PATCH_JUMP_LENGTH];
	uint8_t covered[PATCH_COVERED_MAX]; /* the whole instructions that the jump touches */
	uint8_t jump[PATCH_JUMP_LENGTH];
	uint8_t boundaries;		    /* bit i: an instruction begins at entry + i */
	uintptr_t copy;			    /* of the instructions from `entry` on; 0: none */
	uintptr_t *destination;		    /* of the trampoline */
	uint16_t offset[PATCH_JUMP_LENGTH]; /* in the copy, of the instruction at entry + i */

	/* Where calls lead: `next` once the operation with number `serial` has had its instant,
	 * `previous` before it; 0 is the old function. See site.c. */
	uint64_t serial;
	uintptr_t previous, next;
};

struct patch_change {
	struct patch_site *site;
	tl_event *event; /* NULL: none is open */
	uintptr_t target;
	void **original;	   /* the caller's: receives the copy; or NULL */
	uintptr_t page, pages_end; /* that hold the jump */
	int protection;		   /* theirs */
};

struct tl_patch {
	struct tl_patch *link;
	size_t count;
	bool jumps; /* or breakpoints */
	const char *reason;
	struct patch_change changes[];
};

static inline bool patch_begins(const struct patch_site *site, unsigned i)
{
	return site->boundaries >> i & 1;
}

/* ---- examine.c: sets entry, beyond, boundaries and original from start. 0 or explain_failure().
 * With `jump` false only what a breakpoint needs. */
int patch_examine(struct patch_site *site, bool jump);
/* The instruction at `at`, which ends before `end`. 0 or -errno. */
struct insn;
int patch_decode(uintptr_t at, uintptr_t end, struct insn *insn);
/* What is mapped of [at, at + length) is copied; returns how much. */
size_t patch_read(uintptr_t at, uint8_t *bytes, size_t length);

/* ---- copy.c: the longest a copy can be, and its writing to `out`, where it will run. 0,
 * -ENOTSUP: an instruction cannot run elsewhere; -ERANGE: not this far away. */
#define PATCH_COPY_MAX 256
int patch_copy(struct patch_site *site, uint8_t *out);

/* ---- place.c: trampoline, copy and jump bytes. 0, or as patch_copy(), or -ENOMEM: no free memory
 * at any distance that traps where it must; -EACCES: memory may not be made executable. */
int patch_place(struct patch_site *site);

/* ---- site.c */
/* The site of the function that begins at `start`; NULL: none, or a new one. */
struct patch_site *patch_site_find(uintptr_t start);
/* Keeps a copy of *site for good, in the place of the old site of the same entry. NULL: no room. */
struct patch_site *patch_site_keep(const struct patch_site *site);
/* Own the signal that the traps raise. 0 or -errno. */
int patch_site_own_signal(void);
/* Whether the program has put another handler below ours. */
bool patch_site_lost_signal(void);
/* Begin an operation, give its sites their next destination, and have its instant. */
uint64_t patch_site_operation(void);
void patch_site_prepare(struct patch_site *site, uint64_t operation, uintptr_t next);
void patch_site_instant(uint64_t operation);
/* Traps are about to be written, or are all gone again. */
void patch_site_traps(bool standing);
/* Where a call at this site leads now; 0: to the old function. Async-signal-safe. */
uintptr_t patch_site_destination(const struct patch_site *site);
/* ---- deliver.c: wait until no running thread has the signal of the traps blocked. 0 or -EBUSY.
 */
int patch_wait_deliverable(void);

/* ---- pace.c: an operation begins; between two small pieces of its work: yield if it is time. */
void patch_pace_begin(void);
void patch_pace(void);
uint64_t patch_now_ns(void); /* CLOCK_MONOTONIC */

/* ---- write.c. 0 or -errno, and nothing is changed. */
int patch_write_begin(struct tl_patch *patch);
void patch_write_end(struct tl_patch *patch);
/* The steps above; each ends with all CPUs synchronised. */
void patch_write_traps(const struct tl_patch *patch);
void patch_write_jumps(const struct tl_patch *patch);
void patch_write_originals(const struct tl_patch *patch);
/* Whether the bytes are those that the site should have: its jump, or its original ones. */
bool patch_is_written(const struct patch_site *site, bool jump);

#endif
