/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room holds which code a process's threads use (in_use.h), which of them seldom wake
 * (background.h), and what they are about to access (foresee.h). It learns from samples, from the
 * stacks of sleeping threads and from hits, and writes that to history's tables; it arms nothing
 * and holds no thread. Where armed slots come to cost too much it ends all watches (background.c).
 * The controller's thread runs all of it.
 *
 * This file: what the room keeps of a process besides these tables.
 */
#ifndef USAGE_USAGE_H
#define USAGE_USAGE_H

#include "explore/explorer.h"

#define BACKGROUND_MAX 16 /* background threads that are remembered */

/* When look-ahead was last made from one pc of one thread: `key` is a hash of both, `time` is
 * CLOCK_MONOTONIC ns. */
struct foretold {
	uint64_t key, time;
};

/* A background thread: one that seldom gets a CPU, in a process whose others do all the time; and
 * the code that it alone was seen in. */
struct background_thread {
	pid_t tid;
	bool seen; /* the last look found it */
	struct sites sites, starts;
};

struct usage {
	struct foretold foretold[FORETOLD_MAX];
	uint64_t counted_at; /* the census after which background threads were looked for */
	bool armed_dear;     /* armed_is_dear() when background threads were last looked for */
	uint64_t next;	     /* CLOCK_MONOTONIC, ns: no single thread can be held before then */
	struct background_thread background[BACKGROUND_MAX];
	unsigned background_count;
};

static inline struct usage *usage_of(const struct target *target)
{
	return target->explored->usage;
}

#endif
