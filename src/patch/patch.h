/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A patch: one change for each function. The order in which a change goes from breakpoint to jump
 *
 *	0. its page is made writable
 *	1. the breakpoint at the entry is armed: no thread executes the entry's bytes any more,
 *	   unless it has SIGTRAP blocked
 *	2. each thread is seen outside the bytes (check.c)
 *	3. the bytes are written (write.c), and every CPU is made to fetch them anew
 *	4. the breakpoint is closed, the page protected as before
 *
 * and back: a thread is never inside the jump, which is one instruction, so 2 is not needed.
 * Everything here runs under the lock of object.c.
 */
#ifndef PATCH_PATCH_H
#define PATCH_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trapline/patch.h>

#define PATCH_JUMP_LENGTH 5 /* e9 and a 32-bit distance */

struct patch_change {
	tl_event *event; /* NULL: closed */
	struct tl_patch *patch;
	uintptr_t start; /* of the old function */
	uintptr_t entry; /* where the jump goes: `start`, or after its endbr64 */
	uintptr_t target;
	bool jumps;		   /* the jump is in place */
	uintptr_t page, pages_end; /* that hold the jump */
	int protection;		   /* theirs */
	uint8_t original[PATCH_JUMP_LENGTH];
};

enum patch_live {
	PATCH_ARMING, /* not all are armed yet: who comes to one waits, some 10 us a thread */
	PATCH_NEW,
	PATCH_OLD,
};

struct tl_patch {
	struct tl_patch *next;
	size_t count;
	uint32_t live; /* enum patch_live */
	const char *reason;
	struct patch_change changes[TL_PATCH_MAX];
};

/* Bytes inside of which no thread may be: (entry, entry + PATCH_JUMP_LENGTH). */
static inline bool patch_is_inside(const struct patch_change *change, uintptr_t pc)
{
	return pc > change->entry && pc < change->entry + PATCH_JUMP_LENGTH;
}

/* examine.c: sets `entry` and `original` from `start`. `jump`: also whether a jump can be written.
 * 0 or explain_failure(). */
int patch_examine(struct patch_change *change, bool jump);

/* check.c: wait until each thread was seen outside. 0, -ETIMEDOUT: one stays inside (or does not
 * tell); -EBUSY: one that runs has the signal or SIGTRAP blocked. */
int patch_check_threads(const struct tl_patch *patch);

/* reach.c: an address within the reach of a jump at `from` that leads to `target`: itself or a
 * trampoline. 0: none. */
uintptr_t patch_reach(uintptr_t from, uintptr_t target);

/*
 * write.c. The pages are made writable, and our own copies, before a breakpoint is armed, and
 * protected again after it is closed: a fault at the entry, as any change of the page table causes,
 * resumes there with the breakpoint ignored (EFLAGS.RF; Intel SDM volume 3, 18.3.1.1).
 * 0 or -errno, and nothing is changed.
 */
int patch_write_begin(struct tl_patch *patch);
void patch_write(const struct patch_change *change, const uint8_t bytes[PATCH_JUMP_LENGTH]);
void patch_write_end(struct tl_patch *patch);

#endif
