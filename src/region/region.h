/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions: watched memory of any size, by a protection key. The pages that hold a region carry a
 * key that every thread is denied; an access faults; the fault's handler opens the key in the
 * faulting thread's saved rights alone, lets the one instruction run with the trap flag set, and
 * the trap's handler closes the key and tells the hit. docs/regions.md tells the whole.
 *
 * The room promises that each access to watched bytes is told once, in the thread that made it, and
 * that no other thread sees the page open. All of it runs inside the watched program, most of it in
 * signal handlers; the table (set.h) is written under one lock. It knows nothing of events: who
 * opens regions gives region_install() what it wants to be told.
 *
 * An architecture that has protection keys has region/key.h, region/stub.h, and region_on_trap(),
 * region_on_fault(), region_on_call(), region_on_visit(). Where there are none
 * region_key_possible() says so and nothing of it is ever called.
 */
#ifndef REGION_REGION_H
#define REGION_REGION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct insn_access;

/*
 * The signal by which threads are asked to take part when the first region opens: glibc's own
 * (nptl, SIGSETXID), which its pthread_sigmask() and sigprocmask() never block. Who waits for a
 * lock that is held meanwhile lets it in.
 */
#define REGION_VISIT_SIGNAL 33
#define REGION_VISIT_MASK (1ull << (REGION_VISIT_SIGNAL - 1))

/* What whoever opens regions is asked and told, in signal handlers. All are called. */
struct region_events {
	/* This thread has accessed bytes of region `index`, which was opened with `generation`.
	 * Called as the program runs: its own faults and system calls are handled. */
	void (*hit)(unsigned index, uint32_t generation, const struct insn_access *access,
		    ucontext_t *context);
	/* Is the calling thread within such a hit, or another event's? */
	bool (*is_inside)(void);
	/* Is the region watched in a fork()ed child, too? */
	bool (*survives_fork)(unsigned index);
};

/* As region_install() was told. For the files of this room. */
extern const struct region_events *region_events;

struct region_place {
	uintptr_t first;
	size_t length;	     /* > 0, does not wrap */
	unsigned access;     /* TL_READ | TL_WRITE */
	uint32_t generation; /* of the event: handed back with each hit */
};

/*
 * Take the key and the signals that regions need; once per process. -ENOTSUP: no protection keys.
 */
int region_install(const struct region_events *events);

/*
 * Watch `place` for event number `index`, in every thread. 0 or -errno, and then nothing is
 * watched: -ENOMEM, some page is not mapped; -ENFILE, too many. Async-signal-safe.
 */
int region_open(unsigned index, const struct region_place *place);

/* No access made after it returns is a hit. Nothing happens if it is not open. Async-signal-safe.
 */
void region_close(unsigned index);

/*
 * Before the program forbids itself system calls that covered threads need, or has its calls
 * dispatched itself: every region ends, and nothing of ours is left. None is opened any more.
 * Of a frozen process, and in a child that borrows this memory, nothing happens. Async-signal-safe.
 */
void region_end(void);

/* Before it forbids itself those that opening and closing need: the regions that there are stay
 * watched, and none is opened. What is closed from now on has no hits, and keeps its pages' key. */
void region_freeze(void);
bool region_is_frozen(void);

/* A region is open, being opened or being closed: threads stay covered. */
bool region_any(void);

/* Something new was mapped at [start, start + length): what of it is watched gets the key. */
void region_refresh(uintptr_t start, size_t length);

/* In a fork()ed child, before anything else: its memory has the parent's regions. Those of events
 * that do not follow a fork() end here. */
void region_after_fork(void);

/* A SIGTRAP arrived. True if it was the end of our single step and nothing else. */
bool region_on_trap(const siginfo_t *info, ucontext_t *context);

#endif
