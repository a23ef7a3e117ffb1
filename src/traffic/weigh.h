/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often each instruction runs, estimated from clock samples, which fall on it by the time it
 * takes.
 *
 * Let place p take c(p) of CPU time at each of its N(p) occurrences: f(p) = c(p) N(p) samples fall
 * on it. Bytes that a sample led to were watched for a while, and place q came to them n(q) times:
 * a sight. Such bytes are found with a probability proportional to the sum of c(q) n(q) over all q,
 * so N(q) is the sum over all sights of n(q) divided by that sum (Horvitz and Thompson 1952). c and
 * N follow from each other; iterating from c = 1 settles the ratio of any two places that come to
 * the same bytes, or are linked by others that do. Groups of places that share no bytes are
 * weighted against each other by their time, since nothing else is known of them.
 */
#ifndef TRAFFIC_WEIGH_H
#define TRAFFIC_WEIGH_H

#include <stddef.h>
#include <stdint.h>

#define FLOW_SIGHT_PLACES 6

struct flow_sight {
	uint32_t place[FLOW_SIGHT_PLACES];
	uint16_t times[FLOW_SIGHT_PLACES];
	unsigned count;
};

/* `samples`: f, for `places` places. `occurrences` receives N, in the unit of f; for places
 * without a sight it is f. 0 or -ENOMEM. */
int flow_weigh(const double *samples, size_t places, const struct flow_sight *sights, size_t count,
	       double *occurrences);

#endif
