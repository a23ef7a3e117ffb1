/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches that tools place and take away themselves, in slots of their own behind those that are
 * chosen for.
 *
 * Promised: a slot is open only while it is armed, and only in the threads that it is meant for;
 * each hit is told once, in order, to the tool whose watch it is of; nobody is paired, and a thread
 * is held no longer than its hit is being told. A watch ends when its tool takes it away, or after
 * its window or its hits, and its tool is told. `owner` (from 1 on) tells tools apart; a cookie is
 * unique to its owner. The controller's thread runs all of it.
 */
#ifndef PLACED_PLACED_H
#define PLACED_PLACED_H

#include "hit/collect.h"

struct placed_events {
	void (*hit)(struct program *program, unsigned owner, const struct tl_access *access);
	/* It ended by itself. */
	void (*over)(struct program *program, unsigned owner, const struct tl_watch *watch,
		     unsigned hits, unsigned threads);
};

struct placed {
	const struct placed_events *events;
	const struct budget *budget;
	struct hits *hits;
	struct slot *telling; /* whose hit a tool is being told, its thread held; NULL: none */
};

/* `arm` and `disarm` of <trapline/tool.h> say what they return. */
int placed_arm(struct program *program, unsigned owner, const struct tl_watch *watch);
void placed_disarm(struct program *program, unsigned owner, uint64_t cookie);
unsigned placed_slots(struct program *program, pid_t pid); /* how many slots there are for it */
/* `held`, `unbroken` and `untold` of <trapline/tool.h>. */
bool placed_holds(const struct program *program);
bool placed_is_unbroken(const struct program *program, unsigned owner, pid_t pid, uint64_t cookie);
uint64_t placed_untold(const struct program *program, unsigned owner, pid_t pid, uint64_t cookie);

void placed_collect(struct program *program);	     /* tells the hits that have arrived */
void placed_run(struct program *program);	     /* ends the watches that are over */
uint64_t placed_next(const struct program *program); /* when one will be; ns, CLOCK_MONOTONIC */
void placed_end(struct target *target);

#endif
