/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread's own counter, hit far too often: `each THREADS ROUNDS WORK` adds one to `mine` once
 * every WORK turns of a loop, ROUNDS times in each of THREADS threads, all at once.
 */
#include <pthread.h>
#include <stdlib.h>

__thread volatile long mine;
static long rounds, work;

__attribute__((noinline)) void touch(void)
{
	mine = mine + 1; /* the write */
}

static void *run(void *unused)
{
	for (long i = 0; i < rounds; i++) {
		for (volatile long turn = 0; turn < work; turn = turn + 1)
			;
		touch();
	}
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t *thread = calloc((size_t)threads, sizeof(*thread));

	rounds = argc > 2 ? atol(argv[2]) : 1;
	work = argc > 3 ? atol(argv[3]) : 1;
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return 0;
}
