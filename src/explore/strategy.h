/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strategy: what a run watches, and what is done with threads that hit a watch. The caller names
 * one in control_options: choosing (for races), stall-first (google/gwpsan's way, to compare with),
 * lasting (watches that the caller arms), redirects (whose hits the handler leads elsewhere) or
 * limits (no watches at all; lasting/lasting.h). The loop knows no other difference between them.
 *
 * All are called by the controller's thread; NULL members are not called.
 */
#ifndef EXPLORE_STRATEGY_H
#define EXPLORE_STRATEGY_H

#include "target/target.h"

struct strategy {
	const char *name;
	struct program_ways ways;
	/* Called before any process is watched. */
	void (*start)(struct program *program);
	/* Opens its slots in a process that has announced itself. 0, or -errno: it cannot be
	 * watched. */
	int (*open)(struct target *target);
	/* Writes to a slot that is about to be armed how threads are held at it, and notes what led
	 * to its watch. */
	void (*publish)(struct target *target, struct slot *slot);
	/* Takes the hits that have arrived in the area. */
	void (*collect)(struct program *program);
	/* The process ends, or its watching does; hits that have arrived of it are told before
	 * this. */
	void (*ending)(struct target *target);
	/* Arms and disarms slots as they are due. */
	void (*run)(struct program *program);
	/* When run() is to be called next; CLOCK_MONOTONIC ns. */
	uint64_t (*next)(const struct program *program);
	/* A thread is held now. Returns the slot that the hit counts for from now on. */
	struct slot *(*hit)(struct target *target, struct slot *slot, struct hit *hit);
	/* A thread has hit the slot, or its hold has ended. */
	void (*visit)(struct target *target, const struct slot *slot, const struct hit *hit);
	/* Two threads came to the same bytes within one watch, not at the same time. */
	void (*shared)(struct target *target, const struct hit *hit, const struct hit *other);
};

#endif
