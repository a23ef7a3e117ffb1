/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of limits: in each process of the program one for each limit that is on, whose signal
 * lets the thread look whether it has to pause (src/allowance/throttle.c). And CPU time that no
 * thread pays for, charged to the limit of the whole program.
 *
 * Promised: what has changed in the area is followed at the next call. Run by the controller's
 * thread.
 */
#ifndef LIMIT_EVENTS_H
#define LIMIT_EVENTS_H

#include "target/target.h"

/* A limit's events in one process. */
struct target_limit {
	struct coverage coverage;
	bool open;
	uint64_t period; /* with which they were opened */
	unsigned cover_version;
	bool compared; /* of CPU time: its counters with the process's clock (unpaid.c) */
	uint64_t counted, clocked;
	uint64_t heard; /* the events' count when a signal of limits was last heard of */
};

struct limits {
	struct program *program;
	uint32_t changed; /* the area's count of changes, as it was when events were last opened */
	/* CPU time that no thread of a watched process paid for (unpaid.c): */
	int total; /* descriptor: CPU time of all that descends from the program; -1: not counted */
	uint64_t total_before[AREA_LIMITS]; /* of it, before the limit began */
	bool from_start[AREA_LIMITS];	    /* no process had announced itself */
	bool known[AREA_LIMITS];
	uint64_t counted, clocked; /* what processes used, by counters and by clocks */
};

void limits_init(struct limits *limits, struct program *program);
void limits_end(struct limits *limits);
void limits_open(struct target *target); /* those that are on */
void limits_close(struct target *target);
void limits_follow(struct limits *limits); /* what has changed in the area */
/* Where the threads that a signal may be sent to have changed (inject/stacks.h). */
void limits_suit_cover(struct limits *limits);
/* What program_events.limits_sent says. */
uint64_t limits_sent(struct target *target, bool heard, size_t *read);

/* unpaid.c: CPU time that nobody paid for */
void unpaid_launch(struct limits *limits, pid_t pid); /* before the program begins */
void unpaid_begin(struct limits *limits);	      /* limits that are new */
void unpaid_charge(struct limits *limits);

#endif
