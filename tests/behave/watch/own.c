/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that runs already, whose threads each have their own: `own THREADS WRITES` starts its
 * threads, says "ready", and at a line on its standard input each of them writes `mine` WRITES
 * times. As many threads that are created then do so, too, half a second after they began.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define THREADS_MAX 64

static __thread volatile long mine;
static long writes;
static sem_t go;

static __attribute__((noinline)) void add(void)
{
	mine = mine + 1; /* the write */
}

static void *early(void *unused)
{
	prctl(PR_SET_NAME, "early");
	sem_wait(&go);
	for (long i = 0; i < writes; i++)
		add();
	return unused;
}

static void *late(void *unused)
{
	usleep(500000);
	prctl(PR_SET_NAME, "late");
	for (long i = 0; i < writes; i++)
		add();
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[2 * THREADS_MAX];

	writes = argc > 2 ? atol(argv[2]) : 1;
	threads = threads < THREADS_MAX ? threads : THREADS_MAX;
	sem_init(&go, 0, 0);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, early, NULL);
	puts("ready");
	fflush(stdout);
	getchar();
	for (int i = 0; i < threads; i++) {
		pthread_create(&thread[threads + i], NULL, late, NULL);
		sem_post(&go);
	}
	for (int i = 0; i < 2 * threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
