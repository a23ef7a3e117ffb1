/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From samples to pairs of accesses: what comes next at the bytes that a sampled load or store
 * touched?
 *
 * A clock sample is told long after it was taken. As a rule the same instruction comes to the same
 * bytes again: the first of them is watched in all threads, and once the sampled instruction has
 * been there, the next access is the answer, and the one after that what comes after it, and so on
 * for a few more. Samples fall evenly on the passes of a loop, so these occurrences are as even.
 *
 * Samples fall on instructions by the time that they take, not by how often they run. Which
 * instructions come to watched bytes, and how often each, corrects that (traffic/weigh.h).
 *
 * Where it does not come there again, its next occurrence elsewhere is taken: an execution watch
 * catches the thread before the instruction, its registers tell the bytes, and these are watched
 * while the thread is held. Such occurrences are more often the first passes of a loop than others.
 *
 * If the next access does not come within a window that is drawn at random, the observation is
 * censored (traffic/incidence.h).
 */
#ifndef TRAFFIC_PROBE_H
#define TRAFFIC_PROBE_H

#include "traffic/incidence.h"
#include "traffic/places.h"
#include "traffic/weigh.h"

#define FLOW_PROBES 3		 /* hardware slots wanted */
#define FLOW_OBSERVATIONS 32768u /* kept; a reservoir of those made */

/* How the bytes of an access were used next. */
enum flow_way {
	FLOW_READ_NEXT,	   /* of a store: somebody read it */
	FLOW_WRITTEN_NEXT, /* of a store: it was overwritten, unread; of a load: overwritten */
	FLOW_SAME_AGAIN,   /* of a load: the same thread loaded the same again */
	FLOW_OTHER_READS,  /* of a load: another thread loaded it */
};

struct flow_pair {
	uint32_t place; /* the sampled access */
	uint32_t next;	/* the place of what came next; FLOW_NOWHERE: not seen */
	uint64_t duration;
	pid_t tid, next_tid;
	uint64_t address;
	uint16_t length;
	uint8_t way; /* enum flow_way, or FLOW_CENSORED */
	bool store;
	bool silence_known, silent; /* of a store: it wrote what was there */
	uint32_t group;		    /* number of the probe that saw it */
};

struct flow_probe {
	bool used, begun;
	bool caught; /* the occurrence was found by the execution watch */
	bool store;  /* a store was sampled */
	pid_t pid, tid;
	uint64_t code_cookie, data_cookie; /* 0: not armed */
	uint32_t place;
	uint64_t pc, address, length, deadline, again_until, seen;
	unsigned skip, followed;
	uint64_t value; /* the 8 bytes at `address`, after the last access */
	bool value_known;
	/* The last access, and what came next once that is known. */
	struct flow_pair pair;
	uint64_t time;
	struct flow_sight sight; /* which places came to the bytes, and how often */
};

struct flow_candidate {
	pid_t pid, tid;
	uint64_t pc, address, length;
	bool store;
	uint32_t place;
};

struct flow_prober {
	struct tl_host *host;
	const struct tl_services *services;
	struct flow_places places;
	struct flow_probe probe[FLOW_PROBES];
	struct flow_candidate candidate; /* a reservoir of one */
	uint64_t candidates;		 /* candidates since the last one was taken */
	uint64_t random, cookie, next_start;
	struct flow_pair *pair;
	uint64_t pairs, made;
	struct flow_sight *sight;
	uint64_t sights, sights_made;
	uint32_t group;
	bool loads;	  /* loads are followed up, not only stores */
	double weight[2]; /* sum of the weights of all loads, of all stores */
	pid_t living[256];
	size_t lives;
	uint64_t began; /* CLOCK_MONOTONIC, ns */
};

int flow_prober_init(struct flow_prober *prober, struct tl_host *host,
		     const struct tl_services *services, bool loads);
/* Callbacks of a tool whose state is a prober. */
void flow_prober_sample(void *state, const struct tl_access *access);
void flow_prober_hit(void *state, const struct tl_access *access);
void flow_prober_unwatched(void *state, const struct tl_watch *watch, unsigned hits,
			   unsigned threads);
void flow_prober_tick(void *state);
void flow_prober_began(void *state, pid_t pid);
/* To be called from the tool's own callback, which may report findings first. */
void flow_prober_ended(struct flow_prober *prober, pid_t pid);
/* Weighs all places anew. To be called after the last pair and before the functions below. */
void flow_prober_weigh(struct flow_prober *prober);
/* The kept pairs of this kind as observations, weighted as their places are; the caller frees
 * them. */
struct flow_observation *flow_prober_observations(const struct flow_prober *prober, bool store,
						  size_t *count);
/* How much one kept pair stands for, as a share of all loads or stores, 0 to 1. */
double flow_pair_weight(const struct flow_prober *prober, const struct flow_pair *pair);
void flow_prober_free(struct flow_prober *prober);

#endif
