/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a watched program tells the controller besides hits, and waits for: that a thread begins,
 * that a block of the heap was allocated or is about to be freed. And what only such notices make
 * possible: watching each thread's own copy of a variable, and blocks of the heap.
 */
#ifndef CONTROL_NOTICE_H
#define CONTROL_NOTICE_H

#include "control/control.h"

enum control_notice_kind { CONTROL_THREAD_BEGINS, CONTROL_BLOCK_ALLOCATED, CONTROL_BLOCK_FREED };

struct control_notice {
	enum control_notice_kind kind;
	/* pid, tid, time, pc and stack of the thread; no access. */
	const struct tl_access *from;
	uint64_t address; /* the thread's pointer, or the block */
	uint64_t size;	  /* of the block allocated */
};

/* New threads of the process give notice from now on. */
void control_announce_threads(struct control *control, pid_t pid);
/* The thread pointer of the process's first thread; 0: not known. */
uint64_t control_thread_pointer(struct control *control, pid_t pid);

/* Slot `slot` watches an address of its own in each thread that is added to it. 0 or -errno. */
int control_arm_threads(struct control *control, pid_t pid, unsigned slot,
			const struct tl_watch *watch);
int control_arm_thread(struct control *control, pid_t pid, unsigned slot, pid_t tid,
		       uint64_t address);

bool control_thread_lives(pid_t pid, pid_t tid);

/* Regions, by slots from AREA_SLOTS on: the program opens them when it is answered next. */
bool control_has_regions(void);
int control_arm_region(struct control *control, pid_t pid, unsigned slot,
		       const struct tl_watch *watch);
/* Why the program could not; 0: it could, or has not tried yet. */
int control_region_error(struct control *control, pid_t pid, unsigned slot);

/* Silence a slot and give its hardware back, for others to use. */
void control_close(struct control *control, pid_t pid, unsigned slot);

/* Blocks of `size` bytes give notice; 0 ends that. `index` < AREA_SIZES. */
void control_want_blocks(struct control *control, pid_t pid, unsigned index, uint64_t size);
/* The freeing of this block gives notice. 0, or -ENFILE: AREA_BLOCKS are watched. */
int control_note_block(struct control *control, pid_t pid, uint64_t block);
void control_forget_block(struct control *control, pid_t pid, uint64_t block);

#endif
