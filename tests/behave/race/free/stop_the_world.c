/* SPDX-License-Identifier: Apache-2.0 */
/* A collector stops every thread by a signal, edits their plain data, and lets them go on. */
#include "../harness.h"
#include <signal.h>
#include <semaphore.h>

#define MAX_MUTATORS 64

static struct {
	long objects;
	char padding[56];
} heaps[MAX_MUTATORS];

static sem_t stopped;
static int epoch;
static int collected;

/* Waits in the handler until the collector has finished: release and acquire order the edits. */
static void on_stop(int signal)
{
	int seen = __atomic_load_n(&epoch, __ATOMIC_ACQUIRE);

	(void)signal;
	sem_post(&stopped);
	while (__atomic_load_n(&epoch, __ATOMIC_ACQUIRE) == seen) {
		struct timespec pause = {0, 20000};

		nanosleep(&pause, NULL);
	}
	sem_post(&stopped);
}

static void *mutate(void *arg)
{
	volatile long *objects = &heaps[(intptr_t)arg % MAX_MUTATORS].objects;

	/* Not running(): whoever left early would never answer the collector's signal. */
	while (!__atomic_load_n(&collected, __ATOMIC_ACQUIRE)) {
		(*objects)++;
		pace_hot();
	}
	return NULL;
}

static void *collect(void *arg)
{
	int mutators = harness_threads - 1;

	(void)arg;
	while (running()) {
		for (int i = 0; i < mutators; i++)
			pthread_kill(harness_ids[i], SIGUSR2);
		for (int i = 0; i < mutators; i++)
			while (sem_wait(&stopped))
				;
		for (int i = 0; i < mutators; i++)
			heaps[i].objects /= 2;
		__atomic_store_n(&epoch, epoch + 1, __ATOMIC_RELEASE);
		for (int i = 0; i < mutators; i++)
			while (sem_wait(&stopped))
				;
		nap(10000);
	}
	__atomic_store_n(&collected, 1, __ATOMIC_RELEASE);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};

	harness_init(argc, argv, 4);
	sem_init(&stopped, 0, 0);
	sigaction(SIGUSR2, &action, NULL);
	harness_start(mutate, harness_threads - 1);
	harness_start(collect, 1);
	return harness_finish();
}
