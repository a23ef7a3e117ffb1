/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches that tools place and take away themselves, in slots of their own behind those that
 * strategies choose for.
 *
 * Promised: a slot is open only while it is armed, and only in the threads that it is meant for;
 * each hit is told once, in order, to the tool whose watch it hit; no hits are paired, and a thread
 * is held no longer than its hit is being told. A watch ends when its tool takes it away, or after
 * its window or its hits, and its tool is told. `owner` (from 1 on) tells tools apart; a cookie is
 * unique to its owner. The controller's thread runs all of it.
 */
#ifndef PLACED_PLACED_H
#define PLACED_PLACED_H

#include "hit/collect.h"

struct placed_events {
	void (*hit)(struct program *program, unsigned owner, const struct tl_access *access);
	/* A watch has ended by itself. */
	void (*over)(struct program *program, unsigned owner, const struct tl_watch *watch,
		     unsigned hits, unsigned threads);
};

struct placed {
	const struct placed_events *events;
	const struct budget *budget;
	struct hits *hits;
	/* The slot whose hit a tool is being told, its thread held; NULL: none. */
	struct slot *telling;
};

/* `arm` and `disarm` of <trapline/tool.h> say what they return. */
int placed_arm(struct program *program, unsigned owner, const struct tl_watch *watch);
void placed_disarm(struct program *program, unsigned owner, uint64_t cookie);
/* How many slots the process has for placed watches. */
unsigned placed_slots(struct program *program, pid_t pid);
/* `held`, `unbroken` and `untold` of <trapline/tool.h>. */
bool placed_holds(const struct program *program);
bool placed_is_unbroken(const struct program *program, unsigned owner, pid_t pid, uint64_t cookie);
/* Does the thread wait still whose notice is being told? If so it sees what was stored before. */
bool placed_awaits(const struct program *program);
uint64_t placed_untold(const struct program *program, unsigned owner, pid_t pid, uint64_t cookie);

void placed_collect(struct program *program); /* tells the hits that have arrived */
void placed_run(struct program *program);     /* ends the watches whose time is over */
/* When the next one will be; ns, CLOCK_MONOTONIC. */
uint64_t placed_next(const struct program *program);
void placed_end(struct target *target);

#endif
