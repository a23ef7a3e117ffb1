/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions: watched memory of any size, by a protection key. The pages that hold a region carry a
 * key that every thread is denied; an access faults; the fault's handler opens the key in the
 * faulting thread's saved rights alone, lets the one instruction run with the trap flag set, and
 * the trap's handler closes the key and delivers the hit. docs/regions.md tells the whole.
 */
#ifndef TRAP_REGION_H
#define TRAP_REGION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct region_place {
	uintptr_t first;
	size_t length;	     /* > 0, does not wrap */
	unsigned access;     /* TL_READ | TL_WRITE */
	uint32_t generation; /* of the event: handed back with each hit */
};

/*
 * Take the key and the signals that regions need; once per process. -ENOTSUP: no protection keys.
 */
int region_install(void);

/*
 * Watch `place` for event number `index`, in every thread. 0 or -errno, and then nothing is
 * watched: -ENOMEM, some page is not mapped; -ENFILE, too many. Async-signal-safe.
 */
int region_open(unsigned index, const struct region_place *place);

/* No access made after it returns is a hit. Nothing happens if it is not open. Async-signal-safe.
 */
void region_close(unsigned index);

/* A region is open or being opened: threads stay covered. */
bool region_any(void);

/* Something new was mapped at [start, start + length): what of it is watched gets the key. */
void region_refresh(uintptr_t start, size_t length);

/* In a fork()ed child, before anything else: its memory has the parent's regions. Those of events
 * that do not follow a fork() end here. */
void region_after_fork(void);

/* A SIGTRAP arrived. True if it was the end of our single step and nothing else. */
bool region_on_trap(const siginfo_t *info, ucontext_t *context);

#endif
