/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads, each counting in a variable of its own: in one cache line, or (with `apart`) not. */
#include <pthread.h>
#include <string.h>
#include <time.h>

struct counters {
	volatile long first;
	char between[120];
	volatile long second;
};

static _Alignas(64) struct counters counters;
static volatile long *mine[2];

static void *count(void *which)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 100000; i++)
			(*mine[(long)which])++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec < 5);
	return NULL;
}

int main(int argc, char **argv)
{
	int apart = argc > 1 && !strcmp(argv[1], "apart");
	pthread_t other;

	mine[0] = &counters.first;
	mine[1] = apart ? &counters.second : &counters.first + 1;
	if (pthread_create(&other, NULL, count, (void *)1L))
		return 1;
	count(NULL);
	return pthread_join(other, NULL);
}
