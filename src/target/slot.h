/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware slots of a watched process. Each is one event (or one a thread, where the process was
 * not alone when it was opened), moved from address to address and never closed meanwhile; a
 * transient one is open only while it is armed.
 *
 * Promised: a hit whose generation is the slot's belongs to what the slot watches now; who is held
 * by a slot goes on when it is released, whatever happens to the event. The controller's thread
 * alone touches it.
 */
#ifndef TARGET_SLOT_H
#define TARGET_SLOT_H

#include "event/coverage.h"
#include "target/transient.h"
#include "record/area.h"

#include <trapline/tool.h>

#define SLOT_HITS_MAX 64   /* completed hits of one watch kept for pairing */
#define SLOT_PLACES_MAX 16 /* addresses that one event watches before another takes its place */

struct target;
struct hit;

struct slot {
	unsigned index;
	bool open;
	bool each_thread; /* an address of its own in each of coverage's threads */
	bool few;	  /* open in the threads that were active then, of this version */
	unsigned version;
	bool transient; /* open only while it is armed */
	pid_t only;	/* in this thread alone; 0: in all */
	double rate;	/* times a second that this thread wakes */
	unsigned owner; /* whose watch it is, where a tool placed it; 0: chosen by a strategy */
	bool armed;
	bool resting; /* armed, and silenced until it is paid for: a lasting watch (lasting/duty.h)
		       */
	bool wide;    /* widened to reads */
	unsigned widenings;
	uint32_t generation;
	struct tl_watch watch;
	struct coverage coverage;
	uint64_t ended_hits;   /* of threads that have ended, of each_thread */
	uint64_t counted;      /* by the kernel, at the last look (taken.h) */
	uint64_t told;	       /* hits of an observed process, since it was armed */
	uint64_t count_before; /* of a lasting watch: the kernel's count when it was armed */
	uint64_t armed_at, deadline;
	uint64_t covered_at; /* from when on each thread that it covers trips it as it does now */
	/* Every address that its event has watched since it was opened. */
	uint64_t place[SLOT_PLACES_MAX];
	unsigned places;
	/* Of this watch, kept by the room that collects hits. */
	unsigned seen;
	uint64_t identity[8];
	unsigned identities;
	struct hit *hit[SLOT_HITS_MAX];
	unsigned hits;
	bool whole;	  /* no thread accesses what it watches unseen, as far as is known */
	bool missed;	  /* one of its hits at least was not kept */
	uint32_t changes; /* of the process's memory without an access, when it was armed */
	uint64_t dropped; /* by the process for want of a record, when it was armed */
	uint64_t stood;	  /* what 8 bytes that it watches held before it was armed, … */
	bool stood_known; /* … as far as that was read */
};

int slot_open(struct target *target, struct slot *slot);
void slot_close(struct target *target, struct slot *slot);
void slots_close_silent(struct target *target); /* all that are open and not armed */
/* All, where the threads that a signal may be sent to have changed (inject/stacks.h). */
void slots_suit_cover(struct target *target);
/* A silent one, where the threads to cover have changed. */
void slot_suit_threads(struct target *target, struct slot *slot);
/* Hits of its generation are hits from here on. */
void slot_publish(struct target *target, struct slot *slot);
int slot_arm(struct target *target, struct slot *slot, const struct tl_watch *watch);
/* In this thread alone. */
int slot_arm_in(struct target *target, struct slot *slot, const struct tl_watch *watch,
		const struct thread_rate *thread);
void slot_widen(struct target *target, struct slot *slot);
void slot_narrow(struct target *target, struct slot *slot);
void slot_silence(struct target *target, struct slot *slot); /* its holds go on */
void slot_disarm(struct target *target, struct slot *slot);
void slot_release(struct target *target, struct slot *slot); /* whom it holds */
/* An armed one at this address, of those that strategies choose for; NULL: none. */
struct slot *slot_watching(struct target *target, uint64_t address);

#endif
