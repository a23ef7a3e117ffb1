/* SPDX-License-Identifier: Apache-2.0 */
/* Edges: pairs of accesses with the same two places, and the share of all loads or stores that
 * each edge is. */
#ifndef TRAFFIC_EDGES_H
#define TRAFFIC_EDGES_H

#include "traffic/probe.h"

struct flow_edge {
	uint32_t place, next; /* next: FLOW_NOWHERE when only the first place counts */
	double share;	      /* of all stores (or of all loads), 0 to 1 */
	double error;	      /* one standard error of it */
	uint64_t count;	      /* pairs seen */
	uint64_t threads;     /* pairs whose accesses were made by two threads */
	const struct flow_pair *example;
};

typedef bool flow_edge_fn(const struct flow_pair *pair);

/* The edges of the kept pairs that `wanted` chooses, among pairs whose first place is about to
 * leave, heaviest first. `apart`: pairs with the same first place and different second places
 * are different edges. The caller frees the result. */
struct flow_edge *flow_edges(const struct flow_prober *prober, flow_edge_fn *wanted, bool apart,
			     size_t *count);

#endif
