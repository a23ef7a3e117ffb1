/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware slots of a watched process. Each is one event (or one for each thread, where the process
 * had several when it was opened), moved from address to address and never closed meanwhile; a
 * transient one is open only while it is armed.
 *
 * Promised: a hit with the slot's generation belongs to what the slot watches now; a thread that is
 * held by a slot goes on when it is released, whatever happens to the event. The controller's
 * thread alone touches it.
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
	bool each_thread; /* watches another address in each of coverage's threads */
	/* Open in the threads alone that were active then; `version` is active.h's. */
	bool few;
	unsigned version;
	bool transient; /* open only while it is armed */
	pid_t only;	/* the only thread that it is open in; 0: all */
	double rate;	/* times a second that this thread wakes */
	unsigned owner; /* the tool that placed the watch; 0: it was chosen by a strategy */
	bool armed;
	bool resting; /* armed, and silenced until it is paid for: a lasting watch (lasting/duty.h)
		       */
	bool wide;    /* widened to reads */
	unsigned widenings;
	uint32_t generation;
	struct tl_watch watch;
	struct coverage coverage;
	uint64_t ended_hits;   /* hits of threads that have ended, where each_thread is set */
	uint64_t counted;      /* the kernel's count of hits at the last look (taken.h) */
	uint64_t told;	       /* hits of an observed process, since it was armed */
	uint64_t count_before; /* the kernel's count when a lasting watch was armed */
	uint64_t armed_at, deadline;
	uint64_t silenced_at; /* ns; not armed: before that its event was open */
	/* Ns; since then an access by any covered thread makes a hit, for the current kinds of
	 * access. */
	uint64_t covered_at;
	/* Every address that its event has watched since it was opened. */
	uint64_t place[SLOT_PLACES_MAX];
	unsigned places;
	/* What the room hit keeps of this watch. */
	unsigned seen;
	uint64_t identity[8];
	unsigned identities;
	struct hit *hit[SLOT_HITS_MAX];
	unsigned hits;
	/* As far as is known, no thread can access what it watches without a hit. */
	bool whole;
	bool missed; /* at least one of its hits was not kept */
	/* Count, when it was armed, of changes of the process's memory that are no access. */
	uint32_t changes;
	/* Count, when it was armed, of hits that the process dropped since no record was free. */
	uint64_t dropped;
	uint64_t stood;	  /* what 8 bytes that it watches held before it was armed, … */
	bool stood_known; /* … as far as that was read */
};

int slot_open(struct target *target, struct slot *slot);
void slot_close(struct target *target, struct slot *slot);
void slots_close_silent(struct target *target); /* all that are open and not armed */
/* Reopens all slots where the set of threads that a signal may be sent to has changed
 * (inject/stacks.h). */
void slots_suit_cover(struct target *target);
/* Reopens a silent slot where the set of threads to cover has changed. */
void slot_suit_threads(struct target *target, struct slot *slot);
/* Writes the slot to the area: hits of its generation count from here on. */
void slot_publish(struct target *target, struct slot *slot);
int slot_arm(struct target *target, struct slot *slot, const struct tl_watch *watch);
/* Arms the slot in this thread alone. */
int slot_arm_in(struct target *target, struct slot *slot, const struct tl_watch *watch,
		const struct thread_rate *thread);
void slot_widen(struct target *target, struct slot *slot);
void slot_narrow(struct target *target, struct slot *slot);
void slot_silence(struct target *target, struct slot *slot); /* threads that it holds stay held */
void slot_disarm(struct target *target, struct slot *slot);
void slot_release(struct target *target, struct slot *slot); /* lets the threads go that it holds */
/* An armed slot at this address, of those that strategies choose for; NULL: none. */
struct slot *slot_watching(struct target *target, uint64_t address);

#endif
