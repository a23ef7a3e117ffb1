/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores that are overwritten before anybody has read them, stores of what is there already, and
 * loads by a thread of what it has loaded before and nobody has changed since.
 */
#include "traffic/traffic.h"

#include "traffic/counts.h"
#include "traffic/tell.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TOLD_MOST 100 /* pairs of each kind that are reported, the heaviest first */

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct flow_prober *prober = malloc(sizeof(*prober));

	if (!prober)
		return -ENOMEM;
	if (flow_prober_init(prober, host, services, true)) {
		free(prober);
		return -ENOMEM;
	}
	*state = prober;
	return 0;
}

static bool is_dead(const struct flow_pair *pair)
{
	return pair->store && pair->way == FLOW_WRITTEN_NEXT;
}

static bool is_silent(const struct flow_pair *pair)
{
	return pair->store && pair->silence_known && pair->silent;
}

static bool is_redundant(const struct flow_pair *pair)
{
	return !pair->store && pair->way == FLOW_SAME_AGAIN;
}

static void tell_edges(struct flow_prober *prober, const char *kind, flow_edge_fn *wanted,
		       unsigned next_operation, const char *whole)
{
	size_t count;
	struct flow_edge *edges = flow_edges(prober, wanted, next_operation != 0, &count);

	for (size_t i = 0; edges && i < count && i < TOLD_MOST; i++) {
		const struct flow_edge *edge = &edges[i];
		struct flow_finding finding = {.kind = kind, .rank = (unsigned)i + 1};

		flow_add_place(&finding, &prober->places.place[edge->place],
			       edge->example->store ? TL_WRITE : TL_READ, edge->example->address,
			       edge->example->length);
		if (edge->next != FLOW_NOWHERE && next_operation)
			flow_add_place(&finding, &prober->places.place[edge->next], next_operation,
				       edge->example->address, 0);
		flow_detail_share(&finding, edge->share, edge->error, whole);
		flow_detail(&finding, "seen", "%llu", (unsigned long long)edge->count);
		flow_tell(prober->host, prober->services, &finding);
	}
	free(edges);
}

static void tell_share(struct flow_prober *prober, const char *kind, const char *message,
		       double share, double error, const char *whole, size_t seen)
{
	struct flow_finding finding = {.kind = kind, .message = message, .rank = 1};

	flow_detail_share(&finding, share, error, whole);
	flow_detail(&finding, "seen", "%zu", seen);
	flow_tell(prober->host, prober->services, &finding);
}

static void tell_incidence(struct flow_prober *prober, bool store, enum flow_way way,
			   const char *kind, const char *message)
{
	struct flow_incidence incidence;
	size_t count;
	struct flow_observation *observations = flow_prober_observations(prober, store, &count);
	const char *whole = store ? "stores" : "loads";

	flow_incidence(observations, observations ? count : 0, &incidence);
	free(observations);
	if (!incidence.count)
		return;
	tell_share(prober, kind, message, incidence.share[way], incidence.error[way], whole, count);
	tell_share(prober, store ? "open-stores" : "open-loads",
		   "nobody came back to the bytes in a quarter of a second", incidence.open,
		   incidence.error[way], whole, count);
}

/* A silent store is known at once, so nothing is censored. */
static void tell_silent(struct flow_prober *prober)
{
	double known = 0, silent = 0, squares = 0, share;
	size_t seen = 0;

	for (uint64_t i = 0; i < prober->pairs; i++) {
		const struct flow_pair *pair = &prober->pair[i];
		double weight = flow_pair_weight(prober, pair);

		if (!pair->store || !pair->silence_known)
			continue;
		known += weight;
		squares += weight * weight;
		silent += pair->silent ? weight : 0;
		seen++;
	}
	if (known <= 0)
		return;
	share = silent / known;
	/* Kish's effective number of equally weighted observations is known² / squares. */
	tell_share(prober, "silent-stores", "they wrote what was there", share,
		   sqrt(share * (1 - share) * squares) / known + 0.5 / (double)(seen + 1), "stores",
		   seen);
}

static void tell_totals(struct flow_prober *prober)
{
	tell_incidence(prober, true, FLOW_WRITTEN_NEXT, "dead-stores",
		       "overwritten before anybody read them");
	tell_silent(prober);
	tell_incidence(prober, false, FLOW_SAME_AGAIN, "redundant-loads",
		       "loaded before by the same thread, and unchanged");
}

static void process_ended(void *state, pid_t pid)
{
	struct flow_prober *prober = state;

	flow_prober_ended(prober, pid);
	flow_prober_weigh(prober);
	if (flow_places_leave(&prober->places, pid, prober->living, prober->lives)) {
		tell_edges(prober, "dead-store", is_dead, TL_WRITE, "stores");
		tell_edges(prober, "silent-store", is_silent, 0, "stores");
		tell_edges(prober, "redundant-load", is_redundant, TL_READ, "loads");
	}
	flow_places_forget(&prober->places);
}

static void finish(void *state)
{
	struct flow_prober *prober = state;

	flow_prober_weigh(prober);
	tell_totals(prober);
	flow_prober_free(prober);
	free(prober);
}

const struct tl_tool flow_waste_tool = {
	.size = sizeof(flow_waste_tool),
	.version = TL_TOOL_VERSION,
	.name = "waste",
	.summary = "stores nobody reads, stores that change nothing, loads of what is known",
	.start = start,
	.sample = flow_prober_sample,
	.hit = flow_prober_hit,
	.unwatched = flow_prober_unwatched,
	.exit = finish,
	.process_began = flow_prober_began,
	.process_ended = process_ended,
	.tick = flow_prober_tick,
	.slots = FLOW_PROBES,
	.wants = TL_WANTS_OWN_STACK,
	.counts = flow_traffic_counts,
};
