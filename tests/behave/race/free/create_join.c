/* SPDX-License-Identifier: Apache-2.0 */
/* Plain data handed over by pthread_create() and taken back by pthread_join(). */
#include "../harness.h"

static long input;
static long output;

static void *square(void *arg)
{
	long *result = arg;

	output = input * input;
	*result = output + 1;
	return NULL;
}

int main(int argc, char **argv)
{
	struct timespec start, now;

	harness_init(argc, argv, 2);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		pthread_t thread;
		long result = 0;

		input++;
		if (pthread_create(&thread, NULL, square, &result))
			return 2;
		pthread_join(thread, NULL);
		if (result != input * input + 1 || output != result - 1)
			return 1;
		nap(500);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - start.tv_sec) < harness_seconds);
	return 0;
}
