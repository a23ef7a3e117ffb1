/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a safepoint.
 *
 * One thread at a time asks something of the others: it owns the safepoint (`owner`) from stop to
 * resume, or for a handshake. Joining and leaving need ownership too, so the list of threads stands
 * still meanwhile. Whoever waits for ownership counts as stopped.
 *
 * The protocol between a thread and the owner is Dekker's, on sequentially consistent words: the
 * owner sets `stopping` (or the thread's `task`) and then reads the thread's `state`; the thread
 * sets `state` to RUNNING and then reads `stopping` and `task`. One of the two sees the other.
 */
#ifndef SAFEPOINT_SAFEPOINT_H
#define SAFEPOINT_SAFEPOINT_H

#include "safepoint/arch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trapline/safepoint.h>

enum thread_state {
	SAFEPOINT_RUNNING,
	SAFEPOINT_BLOCKING, /* in a blocking region, or waiting for ownership */
	SAFEPOINT_PARKED,   /* in the handler of its poll's hit */
};

enum task_state {
	TASK_NONE,
	TASK_PENDING,
	TASK_TAKEN,	/* by the thread itself */
	TASK_ON_BEHALF, /* run by the owner: the thread may not leave its blocking region */
	TASK_DONE,
};

struct safepoint_thread {
	struct tl_safepoint *safepoint;
	struct safepoint_thread *next;
	tl_event *event; /* NULL where it is stopped by way of `place` alone */
	pid_t tid;
	uint32_t state;
	uint32_t task;
	uint32_t armed;	       /* its polls trap and none has since */
	const uint32_t *place; /* what TL_SAFEPOINT_POLL_AT() loads: the word, or the trap */
	uint32_t placed;       /* it has asked where that is */
	bool indirect;	       /* its polls trap by `place`; changed by the owner as it arms */
	unsigned blocking_depth;
	uintptr_t stack_low, stack_high;
	ucontext_t *context; /* in the handler */
	ucontext_t outside;  /* where it entered its blocking region */
};

struct tl_safepoint {
	uint32_t word;	      /* the polls load it; never written: must be first */
	const uint32_t *trap; /* a page that cannot be read; NULL: watchpoints alone */
	bool no_watchpoints;  /* threads have none to begin with */
	uint8_t unused[47];
	uint32_t owner; /* tid, a futex */
	uint32_t owner_waiters;
	uint32_t stopping; /* 0 or 1, a futex: stopped threads wait for 0 */
	uint32_t progress; /* a futex: counts threads that came to a stop */
	uint32_t watched;  /* tid: the owner sleeps on `progress` until this thread comes */
	bool stopped;	   /* by the owner, and not yet resumed */
	pid_t laggard;
	pthread_key_t key; /* a thread's own record */
	struct safepoint_thread *threads;
	tl_safepoint_handshake_fn *task;
	void *task_argument;
	struct tl_safepoint *next; /* of the process, for fork() */
};

_Static_assert(offsetof(struct tl_safepoint, word) == 0, "TL_SAFEPOINT_POLL() loads it");
_Static_assert(offsetof(struct tl_safepoint, owner) == 64, "polls share no cache line with writes");

/* The public functions of these names; NULL for the unused arguments between. */
int safepoint_enter_blocking(struct tl_safepoint *safepoint, void *a, void *b, void *c,
			     const struct safepoint_saved *saved);
int safepoint_stop(struct tl_safepoint *safepoint, uint64_t timeout_ns, void *b, void *c,
		   const struct safepoint_saved *saved);
int safepoint_handshake(struct tl_safepoint *safepoint, tl_safepoint_handshake_fn *fn, void *arg,
			uint64_t timeout_ns, const struct safepoint_saved *saved);

/* wait.c: 0 or -ETIMEDOUT; a deadline is CLOCK_MONOTONIC in ns. */
#define NO_DEADLINE UINT64_MAX
uint64_t safepoint_now(void);
uint64_t safepoint_deadline(uint64_t timeout);
int safepoint_wait(uint32_t *word, uint32_t value, uint64_t deadline);
void safepoint_wake(uint32_t *word, unsigned count);
int safepoint_own(struct tl_safepoint *safepoint, uint64_t deadline);
void safepoint_disown(struct tl_safepoint *safepoint);

/* indirect.c */
int safepoint_open_trap(struct tl_safepoint *safepoint);
void safepoint_close_trap(struct tl_safepoint *safepoint);

/* thread.c */
struct safepoint_thread *safepoint_self(const struct tl_safepoint *safepoint);
/* The caller itself. */
void safepoint_block(struct safepoint_thread *thread, const struct safepoint_saved *saved);
void safepoint_unblock(struct safepoint_thread *thread); /* waits while stopped */
/* In the handler of the thread's poll: holds it there as long as it must. */
void safepoint_park(struct safepoint_thread *thread, ucontext_t *context);
void safepoint_free(struct safepoint_thread *thread); /* its event too */
/* In a forked child: the caller takes no part any more, though it may still poll. */
void safepoint_forget_self(struct tl_safepoint *safepoint);
void safepoint_arm(struct safepoint_thread *thread);
void safepoint_disarm(struct safepoint_thread *thread);
/* A thread that ended without leaving; the caller owns the safepoint. */
bool safepoint_is_gone(const struct safepoint_thread *thread);
void safepoint_remove(struct tl_safepoint *safepoint, struct safepoint_thread *thread);
void safepoint_describe(struct safepoint_thread *thread, struct tl_safepoint_thread *description);

/* leave.c */
void safepoint_thread_ended(void *thread); /* destructor of the key */

#endif
