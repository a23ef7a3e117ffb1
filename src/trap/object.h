/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open events of this process, in one table that a handler reads without a lock.
 *
 * The room holds what <trapline/event.h> and <trapline/hit.h> declare: is a spec one that can be
 * opened (spec.h), opening, moving and closing (event.c), on and off (arming.h), threads that are
 * being created meanwhile (creation.h); and the way of a SIGTRAP to its event (dispatch.h), the
 * instruction that made the access (attribution.h) and the callback (deliver.h). It promises that a
 * callback runs in the thread that tripped, before its next instruction, and never of an event that
 * has been closed (running.h). Calls come from the program's threads, any of them; dispatch and
 * what it calls run in signal handlers.
 */
#ifndef TRAP_OBJECT_H
#define TRAP_OBJECT_H

#include "base/lock.h"
#include "event/coverage.h"
#include "event/slots.h"

#include <stdbool.h>
#include <stdint.h>
#include <trapline/event.h>
#include <trapline/hit.h>

#define OBJECT_MAX 4096
#define OBJECT_MAX_THREADS 0x3fff

/*
 * `generation` is even while the entry is free or changing and odd while its hits are valid; each
 * change of what is watched takes two steps. A signal carries the generation it was armed with.
 * Fields above the line are written under `lock` while the generation is even and read by handlers
 * that have seen it odd and see it unchanged afterwards.
 */
struct tl_event {
	uint32_t generation;
	bool open;
	bool enabled;
	bool limited;
	uintptr_t addr;
	size_t length;
	unsigned access; /* as asked for */
	unsigned counter;
	uint64_t period;
	enum tl_scope scope;
	unsigned flags;
	tl_hit_fn *fn;
	void *arg;
	struct slot_piece pieces[SLOTS_MAX_PIECES];
	unsigned piece_count; /* 0 for a region */
	pid_t owner_pid;      /* the process whose events these are; a forked child's copy is not */
	pid_t thread;	      /* TL_THREAD */
	/* ------------------------------------------------------------------ */
	int64_t remaining;	/* hits until silence, when limited */
	uint64_t hits;		/* delivered */
	uint64_t signals;	/* seen, whatever became of them */
	struct owner_lock lock; /* opening, moving, enabling, closing */
	/* The lock's holder may be waiting for threads that are being created … */
	bool changing;
	bool silence_due; /* … and is to silence the event when done: arming_silence() */
	struct coverage coverage[SLOTS_MAX_PIECES];
	struct thread_set threads; /* TL_THREADS */
};

extern struct tl_event object_table[OBJECT_MAX];

/* Signal data: which event, piece, generation and root a signal belongs to. */
struct object_tag {
	unsigned index, piece, root;
	uint32_t generation;
};

uint64_t object_encode_tag(struct object_tag tag);
bool object_decode_tag(uint64_t data, struct object_tag *tag); /* false: not one of ours */

/* Takes a free entry, not open yet. NULL: the table is full. */
struct tl_event *object_allocate(void);
void object_release(struct tl_event *event);

/* One past the highest entry ever used. */
unsigned object_used(void);

/* Is a hit of this thread one of the event's, by its scope? */
bool object_covers_thread(const struct tl_event *event, pid_t tid);

/* Do its hits go on in a fork()ed child? */
bool object_survives_fork(const struct tl_event *event);

#endif
