/* SPDX-License-Identifier: Apache-2.0 */
/* A moving average in a double, updated by every sampler: floating-point lost updates. */
#include "../harness.h"

static double average;
static float peak;

static void *sample(void *arg)
{
	double value = 1.0 + (double)(intptr_t)arg;

	while (running()) {
		average += (value - average) * 0.125; /* RACE a */
		if ((float)value > peak)	      /* RACE b */
			peak = (float)value;	      /* RACE b */
		value = value > 1e6 ? 1.0 : value * 1.01;
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(sample, harness_threads);
	return harness_finish();
}
