/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic/edges.h"

#include <math.h>
#include <stdlib.h>

static int by_places(const void *a, const void *b)
{
	const struct flow_edge *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->next < y->next ? -1 : x->next > y->next;
}

static int by_share(const void *a, const void *b)
{
	const struct flow_edge *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return by_places(a, b);
}

static size_t collect(const struct flow_prober *prober, flow_edge_fn *wanted, bool apart,
		      struct flow_edge *edges)
{
	size_t count = 0;

	for (uint64_t i = 0; i < prober->pairs; i++) {
		const struct flow_pair *pair = &prober->pair[i];

		if (!wanted(pair) || !prober->places.place[pair->place].leaving)
			continue;
		edges[count] = (struct flow_edge){
			.place = pair->place,
			.next = apart ? pair->next : FLOW_NOWHERE,
			.share = flow_pair_weight(prober, pair),
			.count = 1,
			.threads = pair->next_tid && pair->next_tid != pair->tid,
			.example = pair,
		};
		count++;
	}
	return count;
}

static size_t fold(struct flow_edge *edges, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept && !by_places(&edges[kept - 1], &edges[i])) {
			edges[kept - 1].share += edges[i].share;
			edges[kept - 1].count += edges[i].count;
			edges[kept - 1].threads += edges[i].threads;
		} else {
			edges[kept++] = edges[i];
		}
	}
	return kept;
}

struct flow_edge *flow_edges(const struct flow_prober *prober, flow_edge_fn *wanted, bool apart,
			     size_t *count)
{
	struct flow_edge *edges = calloc(prober->pairs + 1, sizeof(*edges));

	*count = 0;
	if (!edges)
		return NULL;
	*count = collect(prober, wanted, apart, edges);
	qsort(edges, *count, sizeof(*edges), by_places);
	*count = fold(edges, *count);
	/* The error is that of pairs drawn with equal weights, which is near enough. */
	for (size_t i = 0; i < *count; i++)
		edges[i].error =
			sqrt(edges[i].share * fmax(0, 1 - edges[i].share) / (double)prober->pairs);
	qsort(edges, *count, sizeof(*edges), by_share);
	return edges;
}
