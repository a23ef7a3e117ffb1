/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded blocks of watched programs, as they tell of them and as their memory shows them. */
#ifndef CONTROL_GUARDS_H
#define CONTROL_GUARDS_H

#include "control/control.h"
#include "record/guard.h"

struct target;

/* A block, out of the program's reach. Numbers are within bounds; frames may be anything. */
struct control_guard {
	uint64_t address;
	enum guard_state state;
	struct guard_record record;
};

struct control_guard_notice {
	enum guard_event event;
	const struct tl_access *from; /* the thread, its time, pc and stack; no access */
	uint64_t address;	      /* as the program handed it over */
	int64_t offset;		      /* of what is broken, in the block … */
	uint32_t length;	      /* … up to its last byte */
	bool known;		      /* `block` is */
	struct control_guard block;
};

/* Programs that are started from now on guard blocks, as these wish. */
void control_guard(struct control *control, const struct tl_guarding *guarding);

/* Where a process has blocks on pages of their own, and what tells of faults there: a descriptor
 * that is the caller's to close. -ENOENT: it has none, or cannot be asked. While the process waits
 * to be let go. */
struct control_guard_pages {
	int descriptor; /* of userfaultfd(2) */
	uint64_t start, owner;
	uint32_t *asked, *bell, *touched;
};
int control_guard_pages(struct control *control, pid_t pid, struct control_guard_pages *pages);
/* The block that the page around the address is of. */
bool control_guard_on_page(struct control *control, pid_t pid, uint64_t address,
			   struct control_guard *block);

/* The block whose first byte is `address`, or whose memory it is in. */
bool control_guard_at(struct control *control, pid_t pid, uint64_t address,
		      struct control_guard *block);
bool control_guard_around(struct control *control, pid_t pid, uint64_t address,
			  struct control_guard *block);

int control_guard_always(struct control *control, pid_t pid, uint64_t caller, uint64_t above);

/* The program's notice of a block, of which its thread waits until it is taken back. */
void guards_tell(struct control *control, struct target *target, const struct area_hit *record);

#endif
