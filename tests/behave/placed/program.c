/* SPDX-License-Identifier: Apache-2.0 */
/* Writes variables a known number of times, once the tool has had time to place its watches. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define THREADS 4
#define WRITES 50

volatile long shared, lonely, limited;

static void nap(long microseconds)
{
	struct timespec time = {0, microseconds * 1000};

	nanosleep(&time, NULL);
}

__attribute__((noinline)) void visit(long by)
{
	__atomic_fetch_add(&shared, by, __ATOMIC_SEQ_CST);
}

static void *work(void *argument)
{
	for (int i = 0; i < WRITES; i++) {
		visit(1);
		nap(1000);
	}
	return argument;
}

int main(void)
{
	pthread_t thread[THREADS];

	nap(500000); /* the tool's tick comes some 50 times a second */
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < WRITES; i++) {
		lonely = i;
		limited = i;
		nap(1000);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	nap(200000);
	printf("%ld\n", shared);
	return 0;
}
