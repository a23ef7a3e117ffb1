/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often something ends in each of several ways, when not everything was watched to its end.
 *
 * A watch on a sampled access ends with what comes next there, or is given up: after its window, or
 * for another one's sake. Giving up depends on the clock and on others, never on what would have
 * come, so it is independent censoring, and the cumulative incidence of each way (Aalen and
 * Johansen 1978; weighted) is an unbiased estimate. Counting only what ended would favour what ends
 * soon. What has not ended after the longest window is told as open.
 *
 * Errors are those of a jackknife over groups of observations (Quenouille 1956).
 */
#ifndef TRAFFIC_INCIDENCE_H
#define TRAFFIC_INCIDENCE_H

#include <stddef.h>
#include <stdint.h>

#define FLOW_WAYS 6
#define FLOW_CENSORED 0xffu
#define FLOW_JACKKNIFE_GROUPS 20

struct flow_observation {
	double weight;	   /* how much the observation stands for; more than 0 */
	uint64_t duration; /* ns until it ended or was given up */
	uint32_t group;	   /* any number that does not depend on the outcome */
	uint8_t way;	   /* below FLOW_WAYS, or FLOW_CENSORED */
};

struct flow_incidence {
	double share[FLOW_WAYS]; /* 0 to 1 */
	double error[FLOW_WAYS]; /* one standard error; 1 where it cannot be told */
	double open;		 /* 1 - the sum of the shares */
	size_t count;
};

/* Sorts the observations by duration. */
void flow_incidence(struct flow_observation *observations, size_t count,
		    struct flow_incidence *incidence);

/* Lower end of the 95 % interval of a share with this error, kept within 0 and 1. */
double flow_low(double share, double error);
double flow_high(double share, double error);

#endif
