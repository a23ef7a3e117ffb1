/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic/weigh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 50
#define COST_MOST 64.0 /* the time of one place against another's; a larger ratio is chance */

static double bounded(double cost)
{
	return cost > COST_MOST ? COST_MOST : cost < 1 / COST_MOST ? 1 / COST_MOST : cost;
}

static void estimate(const double *cost, size_t places, const struct flow_sight *sights,
		     size_t count, double *occurrences)
{
	memset(occurrences, 0, places * sizeof(*occurrences));
	for (size_t i = 0; i < count; i++) {
		const struct flow_sight *sight = &sights[i];
		double chance = 0;

		for (unsigned j = 0; j < sight->count; j++)
			chance += cost[sight->place[j]] * sight->times[j];
		for (unsigned j = 0; j < sight->count && chance > 0; j++)
			occurrences[sight->place[j]] += sight->times[j] / chance;
	}
}

/* The group of a place, named by one of its places. Shortens the chain that leads there. */
static uint32_t group_of(uint32_t *group, uint32_t place)
{
	while (group[place] != place) {
		group[place] = group[group[place]];
		place = group[place];
	}
	return place;
}

static void find_groups(uint32_t *group, size_t places, const struct flow_sight *sights,
			size_t count)
{
	for (uint32_t i = 0; i < places; i++)
		group[i] = i;
	for (size_t i = 0; i < count; i++)
		for (unsigned j = 1; j < sights[i].count; j++)
			group[group_of(group, sights[i].place[j])] =
				group_of(group, sights[i].place[0]);
}

/* Scales each group's occurrences to the number of samples that fell on it: groups weigh against
 * each other by time. */
static void scale(const double *samples, size_t places, uint32_t *group, double *sums,
		  double *occurrences)
{
	double *seen = sums, *sampled = sums + places;

	memset(sums, 0, 2 * places * sizeof(*sums));
	for (uint32_t i = 0; i < places; i++) {
		seen[group_of(group, i)] += occurrences[i];
		sampled[group_of(group, i)] += samples[i];
	}
	for (uint32_t i = 0; i < places; i++) {
		uint32_t own = group_of(group, i);

		if (seen[own] > 0)
			occurrences[i] *= sampled[own] / seen[own];
	}
}

int flow_weigh(const double *samples, size_t places, const struct flow_sight *sights, size_t count,
	       double *occurrences)
{
	double *cost = malloc((3 * places + 1) * sizeof(*cost));
	uint32_t *group = malloc((places + 1) * sizeof(*group));

	if (!cost || !group) {
		free(cost);
		free(group);
		return -ENOMEM;
	}
	find_groups(group, places, sights, count);
	for (size_t i = 0; i < places; i++)
		cost[i] = 1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		estimate(cost, places, sights, count, occurrences);
		scale(samples, places, group, cost + places, occurrences);
		/* Half a step at a time, so that the iteration does not oscillate. One sample
		 * more or less is chance. */
		for (size_t i = 0; i < places; i++)
			if (occurrences[i] > 0)
				cost[i] = bounded(0.5 * cost[i] + 0.5 * (samples[i] + 0.5) /
									  (occurrences[i] + 0.5));
	}
	for (size_t i = 0; i < places; i++)
		if (occurrences[i] <= 0)
			occurrences[i] = samples[i];
	free(cost);
	free(group);
	return 0;
}
