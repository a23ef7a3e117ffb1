/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that runs already, whose threads each have their own: `own THREADS WRITES` starts its
 * threads, says "ready", and at a line on its standard input each of them writes `mine` WRITES
 * times. As many threads that are created then do so, too, half a second after they began; with a
 * third argument `unlisted` they look for 0.1 s like threads that have not run yet, and with
 * `brief` they are created one after the other, write at once and end.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 64

static __thread volatile long mine;
static long writes;
static sem_t go;
static bool unlisted, brief;

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

/* The kernel knows no list of robust futexes of a thread that has not run yet. */
static void seem_unborn(void)
{
	void *head;
	size_t size;

	syscall(SYS_get_robust_list, 0, &head, &size);
	syscall(SYS_set_robust_list, NULL, size);
	usleep(100000);
	syscall(SYS_set_robust_list, head, size);
}

static void *late(void *unused)
{
	if (unlisted)
		seem_unborn();
	if (!brief)
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

	unlisted = argc > 3 && !strcmp(argv[3], "unlisted");
	brief = argc > 3 && !strcmp(argv[3], "brief");
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
		if (brief)
			pthread_join(thread[threads + i], NULL);
	}
	for (int i = 0; i < (brief ? threads : 2 * threads); i++)
		pthread_join(thread[i], NULL);
	return 0;
}
