/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that runs already: `running THREADS WRITES` starts its threads, says "ready", and at a
 * line on its standard input each of them writes `shared` WRITES times, then a thread created just
 * then does, then the main thread reads it and has it written to `text` by the C library.
 * `running THREADS WRITES fast`: without a pause between writes.
 * `running THREADS WRITES alone`: at that line the main thread ends, and the others go on without
 * it.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

volatile long shared;
volatile long result;
char text[32];
static long writes, pause_us = 500;
static sem_t go;

__attribute__((noinline)) void store(long value)
{
	shared = value; /* the write */
}

static void *work(void *name)
{
	sem_wait(&go);
	prctl(PR_SET_NAME, name);
	for (long i = 1; i <= writes; i++) {
		store(i);
		if (pause_us)
			usleep((useconds_t)pause_us);
	}
	return NULL;
}

__attribute__((noinline)) void format(long value)
{
	snprintf(text, sizeof(text), "%010ld %s", value, "by printf"); /* the text */
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[64], late;

	writes = argc > 2 ? atol(argv[2]) : 1;
	pause_us = argc > 3 && strcmp(argv[3], "fast") == 0 ? 0 : pause_us;
	sem_init(&go, 0, 0);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, "early");
	puts("ready");
	fflush(stdout);
	getchar();
	for (int i = 0; i < threads; i++)
		sem_post(&go);
	if (argc > 3 && strcmp(argv[3], "alone") == 0)
		pthread_exit(NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	pthread_create(&late, NULL, work, "late");
	sem_post(&go);
	pthread_join(late, NULL);
	result = shared; /* the read */
	format(result);
	printf("%ld\n", result);
	return 0;
}
