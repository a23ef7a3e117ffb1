/* SPDX-License-Identifier: Apache-2.0 */
/* Which code reads what which code has written: sampled stores and their next readers. */
#include "traffic/traffic.h"

#include "traffic/counts.h"
#include "traffic/tell.h"

#include <errno.h>
#include <stdlib.h>

/* edges reported, the heaviest first; each needs its names looked up once, at the end */
#define EDGES_MOST 2000

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct flow_prober *prober = malloc(sizeof(*prober));

	if (!prober)
		return -ENOMEM;
	if (flow_prober_init(prober, host, services, false)) {
		free(prober);
		return -ENOMEM;
	}
	*state = prober;
	return 0;
}

static bool is_read(const struct flow_pair *pair)
{
	return pair->store && pair->way == FLOW_READ_NEXT && pair->next != FLOW_NOWHERE;
}

static void tell_edge(struct flow_prober *prober, const struct flow_edge *edge, unsigned rank)
{
	struct flow_finding finding = {.kind = "flow-edge", .rank = rank};
	const struct flow_pair *example = edge->example;
	const struct flow_place *reader = &prober->places.place[edge->next];

	if (!reader->pid)
		return;
	flow_add_place(&finding, &prober->places.place[edge->place], TL_WRITE, example->address,
		       example->length);
	flow_add_place(&finding, reader, TL_READ, example->address, example->length);
	finding.access[0].tid = example->tid;
	finding.access[1].tid = example->next_tid;
	flow_detail_share(&finding, edge->share, edge->error, "stores");
	flow_detail(&finding, "seen", "%llu", (unsigned long long)edge->count);
	flow_detail(&finding, "between-threads", "%llu", (unsigned long long)edge->threads);
	flow_tell(prober->host, prober->services, &finding);
}

static void process_ended(void *state, pid_t pid)
{
	struct flow_prober *prober = state;
	struct flow_edge *edges;
	size_t count;

	flow_prober_ended(prober, pid);
	flow_prober_weigh(prober);
	if (flow_places_leave(&prober->places, pid, prober->living, prober->lives)) {
		edges = flow_edges(prober, is_read, true, &count);
		for (size_t i = 0; edges && i < count && i < EDGES_MOST; i++)
			tell_edge(prober, &edges[i], (unsigned)i + 1);
		if (count > EDGES_MOST)
			prober->services->count(prober->host, "flow-edges-not-told",
						count - EDGES_MOST);
		free(edges);
	}
	flow_places_forget(&prober->places);
}

static void finish(void *state)
{
	flow_prober_free(state);
	free(state);
}

const struct tl_tool flow_map_tool = {
	.size = sizeof(flow_map_tool),
	.version = TL_TOOL_VERSION,
	.name = "map",
	.summary = "which code reads what which code has written",
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
