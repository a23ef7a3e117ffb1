/* SPDX-License-Identifier: Apache-2.0 */
/* Hands a hit, however it came, to the callback of its event, within the event's life and limit. */
#ifndef TRAP_DELIVER_H
#define TRAP_DELIVER_H

#include "region/region.h"
#include "trap/hit.h"
#include "trap/object.h"
#include "trap/running.h"

/* A copy of what a handler needs of an event, read while its generation was the signal's. */
struct deliver_event {
	tl_event *event;
	tl_hit_fn *fn;
	void *arg;
	uintptr_t addr;
	size_t length;
	unsigned access, flags;
	struct slot_piece piece;
	bool ambiguous;
};

/* Reads the event of the tag's index and keeps it from being closed until deliver_leave(). False:
 * the event is of another generation. deliver_leave() is to be called in either case. */
bool deliver_enter(struct running *record, const struct object_tag *tag,
		   struct deliver_event *snapshot);
void deliver_leave(struct running *record);

/* What the instruction did, as the callback sees it. */
void deliver_describe(const struct insn_access *access, struct tl_hit *hit);
/* Counts the hit and calls the callback, if the event's limit allows. */
void deliver_hit(struct tl_hit *hit, tl_hit_fn *fn, void *arg);

/* Called within a handler of `own`: calls `visit` for each other open event that has the same
 * callback and covers this thread, with that event's argument and `own`'s, as if it had a hit too.
 * Neither event is closed while it is visited. */
void deliver_beside(const tl_event *own, void (*visit)(void *arg, void *own_arg));

/* For region_install(): hits that did not come by a perf signal are handed to the callback of event
 * number `index`, if the event is still of that generation and covers this thread. */
extern const struct region_events deliver_regions;

#endif
