/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic/incidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX
#define QUANTILE 1.96 /* of the normal distribution, for an interval of 95 % */

/* Sorts by duration. Endings come before censorings of the same moment: a watch that was given
 * up then had not ended yet. */
static int by_duration(const void *a, const void *b)
{
	const struct flow_observation *x = a, *y = b;

	if (x->duration != y->duration)
		return x->duration < y->duration ? -1 : 1;
	return (x->way == FLOW_CENSORED) - (y->way == FLOW_CENSORED);
}

/* Estimates the shares without the observations of group `without`. */
static void estimate(const struct flow_observation *observations, size_t count, uint32_t without,
		     double share[FLOW_WAYS])
{
	double risk = 0, surviving = 1;

	memset(share, 0, FLOW_WAYS * sizeof(*share));
	for (size_t i = 0; i < count; i++)
		if (observations[i].group % FLOW_JACKKNIFE_GROUPS != without)
			risk += observations[i].weight;
	for (size_t i = 0; i < count && risk > 0; i++) {
		const struct flow_observation *observation = &observations[i];
		double part;

		if (observation->group % FLOW_JACKKNIFE_GROUPS == without)
			continue;
		part = observation->weight < risk ? observation->weight / risk : 1;
		risk -= observation->weight;
		if (observation->way >= FLOW_WAYS)
			continue;
		share[observation->way] += surviving * part;
		surviving *= 1 - part;
	}
}

static void find_errors(const struct flow_observation *observations, size_t count,
			struct flow_incidence *incidence)
{
	double square[FLOW_WAYS] = {0};
	double groups = FLOW_JACKKNIFE_GROUPS;

	for (uint32_t group = 0; group < FLOW_JACKKNIFE_GROUPS; group++) {
		double share[FLOW_WAYS];

		estimate(observations, count, group, share);
		for (unsigned way = 0; way < FLOW_WAYS; way++) {
			double difference = share[way] - incidence->share[way];

			square[way] += difference * difference;
		}
	}
	/* A few observations may agree by chance, so the error that one observation of another
	 * outcome would make is added. */
	for (unsigned way = 0; way < FLOW_WAYS; way++)
		incidence->error[way] = fmin(1, sqrt((groups - 1) / groups * square[way]) +
							0.5 / (double)(count + 1));
}

void flow_incidence(struct flow_observation *observations, size_t count,
		    struct flow_incidence *incidence)
{
	memset(incidence, 0, sizeof(*incidence));
	incidence->count = count;
	incidence->open = 1;
	for (unsigned way = 0; way < FLOW_WAYS; way++)
		incidence->error[way] = 1;
	if (!count)
		return;
	qsort(observations, count, sizeof(*observations), by_duration);
	estimate(observations, count, NOBODY, incidence->share);
	for (unsigned way = 0; way < FLOW_WAYS; way++)
		incidence->open -= incidence->share[way];
	if (incidence->open < 1e-12)
		incidence->open = 0;
	if (count > 1)
		find_errors(observations, count, incidence);
}

double flow_low(double share, double error)
{
	return fmax(0, share - QUANTILE * error);
}

double flow_high(double share, double error)
{
	return fmin(1, share + QUANTILE * error);
}
