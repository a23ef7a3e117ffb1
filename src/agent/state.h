/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the preload library knows of itself in this process: its other rooms share this struct and
 * no other state.
 *
 * The room also holds what those need that must be asked of the program or the processor first:
 * system calls that seccomp filters permit (permitted.h), the program's memory (readable.h), mask
 * registers (opmask.h), the hooks of an architecture (hooks.h) and of the libraries with regions
 * (region.h) and guarded blocks (guard.h). The state is written as the process starts and is
 * announced; afterwards any thread and any signal handler may read it.
 */
#ifndef AGENT_STATE_H
#define AGENT_STATE_H

#include "record/area.h"

#include <linux/limits.h>

struct agent_regions;
struct agent_guard;

/* The first members are those of struct injected_state (record/injected.h). */
struct agent_state {
	struct area *area; /* NULL: switched off */
	/* This process's entry in the area; NULL: not watched. Another thread may end the watching
	 * at any moment, with exit(): each function reads this once and uses what it read. The
	 * entry stays mapped, so that a handler which has read it before may finish. */
	struct area_process *_Atomic process;
	uint32_t index;			     /* of our entry */
	uint64_t hold_most;		     /* ns of one hold, whatever the area says later */
	_Atomic uint32_t handlers;	     /* running now, in all threads */
	bool can_read_fs_base;		     /* the CPU and kernel allow rdfsbase */
	uint16_t opmask_at;		     /* see agent/opmask.h */
	bool quiet;			     /* a seccomp filter was set: few calls are safe */
	char locator[AREA_LOCATOR];	     /* of the area, for programs we exec */
	const struct agent_regions *regions; /* NULL: this library has none */
	const struct agent_guard *guard;     /* NULL: this library guards no blocks */
	uint64_t allocations;	/* address of what is remembered of blocks; 0: nothing yet */
	char library[PATH_MAX]; /* our own path, as it stood in LD_PRELOAD */
	/* The value of TRAPLINE_OPTIONS, in the memory of the environment, where the variable was
	 * taken out of it; NULL: it was not. Valid only while the process starts. */
	const char *options;
};

/* Hidden: the injected handler has no table of addresses to find it by. */
extern struct agent_state agent_state __attribute__((visibility("hidden")));

/* CLOCK_MONOTONIC in ns, without a system call where the kernel's vDSO can and may. */
uint64_t agent_now(void);

/* A thread is about to forbid itself to read the processor's clock (PR_SET_TSC), as the vDSO does:
 * from here on the kernel is asked for the time. False: the kernel may not be asked either, since
 * system calls are restricted. */
bool agent_forbid_clock(void);
bool agent_clock_is_forbidden(void);

/* Did the process go on without waiting for the controller, and is not watched yet? */
static inline bool agent_is_late(const struct area_process *process)
{
	return atomic_load_explicit(&process->state, memory_order_relaxed) == AREA_PROCESS_LATE;
}

#endif
