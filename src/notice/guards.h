/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded blocks of watched programs, as they tell of them and as their memory shows them. */
#ifndef NOTICE_GUARDS_H
#define NOTICE_GUARDS_H

#include "target/target.h"
#include "record/guard.h"

/* A block, out of the program's reach. Numbers are within bounds; frames may be anything. */
struct guards_block {
	uint64_t address;
	enum guard_state state;
	struct guard_record record;
};

struct guards_notice {
	enum guard_event event;
	const struct tl_access *from; /* the thread, its time, pc and stack; no access */
	uint64_t address;	      /* as the program handed it over */
	int64_t offset;		      /* of what is broken, in the block … */
	uint32_t length;	      /* … up to its last byte */
	bool known;		      /* `block` is */
	struct guards_block block;
};

/* Programs that are started from now on guard blocks, as these wish. */
void guards_choose(struct program *program, const struct tl_guarding *guarding);

/* Where a process has blocks on pages of their own, and what tells of faults there: a descriptor
 * that is the caller's to close. -ENOENT: it has none, or cannot be asked. While the process waits
 * to be let go. */
struct guards_pages {
	int descriptor; /* of userfaultfd(2) */
	uint64_t start, owner;
	uint32_t *asked, *bell, *touched;
};
int guards_pages(struct program *program, pid_t pid, struct guards_pages *pages);
/* The block that the page around the address is of. */
bool guards_on_page(struct program *program, pid_t pid, uint64_t address,
		    struct guards_block *block);

/* The block whose first byte is `address`, or whose memory it is in. */
bool guards_at(struct program *program, pid_t pid, uint64_t address, struct guards_block *block);
bool guards_around(struct program *program, pid_t pid, uint64_t address,
		   struct guards_block *block);

/* Does its library stand before malloc(), so that it can guard blocks? `interposed` of
 * <trapline/tool.h>. */
bool guards_are_interposed(const struct program *program, pid_t pid);

int guards_always(struct program *program, pid_t pid, uint64_t caller, uint64_t above);

/* The program's notice of a block, of which its thread waits until it is taken back. */
void guards_tell(struct target *target, const struct area_hit *record);

#endif
