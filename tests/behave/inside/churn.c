/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of threads that live for microseconds and race, one pair after another, for SECONDS. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static int counter;

static void *work(void *arg)
{
	counter++;
	return arg;
}

int main(int argc, char **argv)
{
	time_t until = time(NULL) + (argc > 1 ? atoi(argv[1]) : 4);
	pthread_t one, other;

	while (time(NULL) < until) {
		if (pthread_create(&one, NULL, work, NULL) ||
		    pthread_create(&other, NULL, work, NULL))
			return 1;
		pthread_join(one, NULL);
		pthread_join(other, NULL);
	}
	return counter == 0;
}
