/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of accesses by their two places, with the share of all loads or stores that each is. */
#ifndef TRAFFIC_EDGES_H
#define TRAFFIC_EDGES_H

#include "traffic/probe.h"

struct flow_edge {
	uint32_t place, next; /* next: FLOW_NOWHERE when only the first place counts */
	double share;	      /* of all stores (or loads), 0 to 1 */
	double error;	      /* one standard error of it */
	uint64_t count;	      /* pairs seen */
	uint64_t threads;     /* pairs between two threads */
	const struct flow_pair *example;
};

typedef bool flow_edge_fn(const struct flow_pair *pair);

/*
 * Of the kept pairs that `wanted` chooses and whose first place is about to leave, heaviest first.
 * `apart`: pairs with the same first place and different second ones are different edges. The
 * caller frees.
 */
struct flow_edge *flow_edges(const struct flow_prober *prober, flow_edge_fn *wanted, bool apart,
			     size_t *count);

#endif
