/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that use CPU time in ways that events and holds cost differently; the amount of work is
 * fixed, so that what one run takes more than another is what was added to it.
 *
 * Usage: subject busy|locks|switching|threads|forking AMOUNT
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUSY_THREADS 2
#define LOCK_THREADS 4
#define MANY_THREADS 1000
#define TABLE 4096

static uint64_t table[BUSY_THREADS][TABLE];
static uint64_t counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begin;
static unsigned long amount;
static int there[2], back[2];

static void work(uint64_t *words, unsigned long rounds)
{
	uint64_t state = 1;

	for (unsigned long i = 0; i < rounds; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		words[state >> 52] += state;
	}
}

static void *busy(void *words)
{
	work(words, amount * 1000);
	return NULL;
}

static void *lock(void *unused)
{
	uint64_t own[TABLE] = {0};

	for (unsigned long i = 0; i < amount; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		work(table[0], 20);
		pthread_mutex_unlock(&mutex);
		work(own, 1000);
	}
	return unused;
}

static void *answer(void *unused)
{
	char byte;

	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		table[0][(unsigned char)byte]++;
	return unused;
}

/* Two threads that hand a byte to each other, each asleep while the other runs. */
static void switching(void)
{
	pthread_t thread;
	char byte = 0;

	if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer, NULL))
		exit(2);
	for (unsigned long i = 0; i < amount; i++, byte++) {
		work(table[1], 200);
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			exit(2);
	}
	close(there[1]);
	pthread_join(thread, NULL);
}

static void *one_of_many(void *number)
{
	uint64_t own[TABLE] = {0};

	pthread_barrier_wait(&begin);
	for (int i = 0; i < 10; i++) {
		work(own, amount * 10 + (uintptr_t)number % 7);
		usleep(20000);
	}
	return NULL;
}

static void run_threads(unsigned count, void *(*routine)(void *), bool numbered)
{
	static pthread_t thread[MANY_THREADS];
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	for (uintptr_t i = 0; i < count; i++)
		if (pthread_create(&thread[i], &attributes, routine,
				   numbered ? (void *)i : table[i % BUSY_THREADS]))
			exit(2);
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

static void fork_all(void)
{
	for (unsigned long i = 0; i < amount; i++) {
		pid_t child = fork();

		if (child < 0)
			exit(2);
		if (child == 0) {
			work(table[0], 300000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc == 3 ? argv[1] : "";

	amount = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	pthread_barrier_init(&begin, NULL, MANY_THREADS);
	if (strcmp(kind, "busy") == 0)
		run_threads(BUSY_THREADS, busy, false);
	else if (strcmp(kind, "locks") == 0)
		run_threads(LOCK_THREADS, lock, false);
	else if (strcmp(kind, "switching") == 0)
		switching();
	else if (strcmp(kind, "threads") == 0)
		run_threads(MANY_THREADS, one_of_many, true);
	else if (strcmp(kind, "forking") == 0)
		fork_all();
	else
		return 2;
	return 0;
}
