/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collecting hits: seen when a thread begins its hold, complete when it ends, and paired with those
 * of other threads in the same watch.
 *
 * Promised: each record of the area is taken once and given back once, whatever its thread or its
 * process does meanwhile; a hit of a watch that has ended is counted and dropped. Run by the
 * controller's thread, which tells the events synchronously.
 */
#ifndef HIT_COLLECT_H
#define HIT_COLLECT_H

#include "hit/hit.h"

/* All are called. */
struct hit_events {
	/* A usable hit of data. */
	void (*seen)(struct target *target, const struct hit *hit);
	/* The hit's thread is held now. Returns the slot that the hit counts for from now on. */
	struct slot *(*held)(struct target *target, struct slot *slot, struct hit *hit);
	/* A thread has hit the slot, or its hold has ended. */
	void (*visit)(struct target *target, const struct slot *slot, const struct hit *hit);
	/* Two threads came to the same bytes within one watch, not at the same time. */
	void (*shared)(struct target *target, const struct hit *hit, const struct hit *other);
	/* Two threads were at conflicting accesses at one moment. The callee adds to the pair what
	 * led to the slot's watch. */
	void (*pair)(struct target *target, const struct slot *slot, struct tl_pair *pair);
};

/* What is known of one record of the area, from when it is first seen until it is taken back. */
struct following {
	struct target *target; /* NULL: there is no hit */
	struct hit *hit;
	struct slot *slot;
	uint32_t generation;
	uint64_t since; /* 0: nothing is known of it yet */
	uint64_t pass;	/* the pass over the records that found it */
	bool settled;	/* only taking the record back remains */
	bool told;	/* the same, for a record that nobody follows: records.c */
};

struct hits {
	struct program *program;
	const struct hit_events *events;
	struct area_hit copy; /* of the record being judged */
	uint64_t pass;	      /* over the records, in search of new ones */
	struct following following[AREA_HITS];
};

void hits_collect(struct hits *hits);
/* Frees the slot's hits: its watch is over and nobody is held in it. */
void hits_forget_slot(struct hits *hits, struct slot *slot);
/* The process has ended or is left: those who were held in it count as held until now. */
void hits_forget_target(struct hits *hits, struct target *target);
/* Takes back records that the process of this entry, which has ended, had begun to write. */
void hits_reclaim(struct hits *hits, uint32_t process);
/* Is the hit's thread still held? */
bool hits_is_held(const struct hits *hits, const struct hit *hit);
/* Is a thread held at the slot? A disarmed one keeps its hits until the last hold has ended. */
bool hits_are_held(const struct slot *slot);

/* pairs.c */
bool hits_conflict(const struct hit *a, const struct hit *b); /* apart from their times */
void pairs_complete(const struct hit_events *events, struct target *target, struct slot *slot,
		    struct hit *hit);

#endif
