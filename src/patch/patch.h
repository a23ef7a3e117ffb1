/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: functions of this process are replaced while its threads call them, all of a patch at
 * one instant, and back again. It promises that no thread is stopped or looked into, that each call
 * runs one of the two functions as a whole, and that whatever cannot be replaced is refused with a
 * sentence before a byte is changed. The thread that calls tl_patch_apply_all() or
 * tl_patch_revert() runs it, under the lock of object.c; for `trapline patch` that is the listening
 * thread (listen.c). Only the handler of SIGILL in site.c runs in any thread, and takes no lock.
 *
 * How an entry becomes a jump while threads execute it. The jump has five bytes, at some of which
 * instructions begin (here: push, mov). There are three steps, each followed by membarrier
 * SYNC_CORE, after which no CPU executes bytes that it fetched before:
 *
 *	original    55 | 48 89 e5 | ..      push %rbp; mov %rsp,%rbp
 *	1 trapped   06 | 06 89 e5 | 61      each instruction that begins here is now a trap
 *	  --- the instant: callers that trap are sent to the new function from now on ---
 *	2 filled    06 | 06 xx xx | 61      bytes that begin no instruction
 *	3 jump      e9 | 06 xx xx | 61      jmp rel32: its distance contains the traps
 *
 * A trap is a byte that is no instruction in 64-bit mode, so that it raises SIGILL. SIGILL is used
 * and not the SIGTRAP of int3, since our own handlers do not block it and debuggers pass it on.
 *
 * The distance leads to a trampoline whose place was chosen so that the distance holds a trapping
 * byte wherever an instruction began (place.c). So a thread that was interrupted inside the bytes,
 * is in a signal handler above them, or returns into them, now or in an hour, traps at its next
 * instruction and is moved to a copy of the instructions (copy.c). No thread has to be looked at.
 *
 * A patch is taken back in the same order: step 1 writes a trap over e9, then comes the instant,
 * and steps 2 and 3 write the original bytes.
 *
 * A site belongs to an entry for good, since a trap may be delivered long after the bytes have
 * changed.
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
	uint8_t jump[PATCH_JUMP_LENGTH];    /* e9 and the distance to the trampoline */
	uint8_t boundaries;		    /* bit i: an instruction begins at entry + i */
	uintptr_t copy;			    /* of the instructions from `entry` on; 0: none */
	uintptr_t *destination;		    /* the word that the trampoline jumps by */
	uint16_t offset[PATCH_JUMP_LENGTH]; /* in the copy, of the instruction at entry + i */

	/* Where calls lead: to `next` once the operation with number `serial` has had its instant,
	 * to `previous` before it; 0 stands for the old function. The patcher writes them under the
	 * lock of object.c, and trapping threads read them without it (site.c). */
	uint64_t serial;
	uintptr_t previous, next;
};

struct patch_change {
	struct patch_site *site;
	tl_event *event;	   /* the breakpoint; NULL: none is open */
	uintptr_t target;	   /* the new function */
	void **original;	   /* the caller's word that receives the copy's address; or NULL */
	uintptr_t page, pages_end; /* the pages that hold the jump, */
	int protection;		   /* and their protection before, PROT_… */
};

struct tl_patch {
	struct tl_patch *link; /* the next of `patches` in object.c, under its lock */
	size_t count;
	bool jumps; /* false: it stands on breakpoints */
	/* Why it stands on breakpoints although jumps were asked for; NULL: it does not. */
	const char *reason;
	struct patch_change changes[];
};

static inline bool patch_begins(const struct patch_site *site, unsigned i)
{
	return site->boundaries >> i & 1;
}

/* ---- examine.c: sets entry, beyond, boundaries, original and covered from start. 0 or
 * explain_failure(). With `jump` false only the entry is set, which is all that a breakpoint needs.
 */
int patch_examine(struct patch_site *site, bool jump);
/* The instruction at `at`, which ends before `end`. 0 or -errno. */
struct insn;
int patch_decode(uintptr_t at, uintptr_t end, struct insn *insn);
/* Copies what is mapped of [at, at + length), up to the end of the first page where the next one is
 * not. Returns how many bytes that was. */
size_t patch_read(uintptr_t at, uint8_t *bytes, size_t length);

/* ---- copy.c: writes the copy to `out`, where it will run. 0; -ENOTSUP: an instruction cannot run
 * elsewhere; -ERANGE: one cannot run this far away. */
#define PATCH_COPY_MAX 256 /* bytes that a copy has at most */
int patch_copy(struct patch_site *site, uint8_t *out);

/* ---- place.c: makes the site's trampoline, copy and jump bytes. 0, or as patch_copy(), or
 * -ENOMEM: no memory is free at any distance that traps where it must; -EACCES: memory may not be
 * made executable. */
int patch_place(struct patch_site *site);

/* ---- site.c */
/* The last site that was kept for the function that begins at `start`; NULL: there is none. */
struct patch_site *patch_site_find(uintptr_t start);
/* Keeps a copy of *site for good, which counts from now on before older sites of the same entry.
 * NULL: there is no room. */
struct patch_site *patch_site_keep(const struct patch_site *site);
/* Makes the signal that the traps raise ours. 0 or -errno. */
int patch_site_own_signal(void);
/* Whether the program has replaced our handler behind our back, by a system call of its own. */
bool patch_site_lost_signal(void);
/* Begins an operation; gives each of its sites their next destination, which counts from its
 * instant on; and has that instant. */
uint64_t patch_site_operation(void);
void patch_site_prepare(struct patch_site *site, uint64_t operation, uintptr_t next);
void patch_site_instant(uint64_t operation);
/* Called before traps are written, and when all are gone again. */
void patch_site_traps(bool standing);
/* Where a call at this site leads now; 0: to the old function. Async-signal-safe. */
uintptr_t patch_site_destination(const struct patch_site *site);

/* ---- deliver.c: waits until no running thread has the signal of the traps blocked. 0 or -errno
 * (-EBUSY: one has it blocked for too long). */
int patch_wait_deliverable(void);

/* ---- pace.c: the first is called as an operation begins, the second between two small pieces of
 * its work: it yields the CPU when a portion is done. */
void patch_pace_begin(void);
void patch_pace(void);
uint64_t patch_now_ns(void); /* CLOCK_MONOTONIC */

/* ---- write.c: makes the pages of all jumps writable, and gives them their protection back. 0;
 * -errno, and nothing is changed. */
int patch_write_begin(struct tl_patch *patch);
void patch_write_end(struct tl_patch *patch);
/* The steps above; each ends with all CPUs synchronised. */
void patch_write_traps(const struct tl_patch *patch);
void patch_write_jumps(const struct tl_patch *patch);
void patch_write_originals(const struct tl_patch *patch);
/* Whether the bytes are those that the site should have: its jump, or its original ones. */
bool patch_is_written(const struct patch_site *site, bool jump);

#endif
