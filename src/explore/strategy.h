/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strategy: what a run watches, and what is done with who comes by. The caller names one in
 * control_options: choosing (for races), stall-first (the peer's, to compare with), lasting
 * (watches that the caller arms) or limits (no watches at all; lasting/lasting.h). Whatever else
 * differs between them is no business of the loop.
 *
 * All are called by the controller's thread; NULL members are not called.
 */
#ifndef EXPLORE_STRATEGY_H
#define EXPLORE_STRATEGY_H

#include "target/target.h"

struct strategy {
	const char *name;
	struct program_ways ways;
	/* Before any process is watched. */
	void (*start)(struct program *program);
	/* Opens its slots in a process that has announced itself. 0, or -errno: it cannot be
	 * watched. */
	int (*open)(struct target *target);
	/* How the threads are held that come by a slot, which is about to be armed, and what led to
	 * its watch. */
	void (*publish)(struct target *target, struct slot *slot);
	/* Takes the hits that have arrived in the area. */
	void (*collect)(struct program *program);
	/* The process ends, or is left alone: what has arrived of it is told before that. */
	void (*ending)(struct target *target);
	/* Arms and disarms what is due. */
	void (*run)(struct program *program);
	/* When that is the next time; CLOCK_MONOTONIC ns. */
	uint64_t (*next)(const struct program *program);
	/* A thread is held now. The slot whose hit it is from now on. */
	struct slot *(*hit)(struct target *target, struct slot *slot, struct hit *hit);
	/* A thread has come by, or its hold has ended. */
	void (*visit)(struct target *target, const struct slot *slot, const struct hit *hit);
	/* Two threads came to the same bytes within one watch, not at the same time. */
	void (*shared)(struct target *target, const struct hit *hit, const struct hit *other);
};

#endif
