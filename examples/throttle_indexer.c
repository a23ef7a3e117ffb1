/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that answers questions while it indexes in the background, on as little of a CPU as it
 * was told. The indexer pauses by itself; the thread that answers is left alone. Both use a lock:
 * the indexer marks that section, so that it never pauses while the other waits for it.
 *
 * usage: throttle_indexer [PERCENT [SECONDS]]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trapline/trapline.h>
#include <unistd.h>

#define BUCKETS 4096
#define BATCH 2000 /* documents between two visits to the shared index */
#define MAX_QUESTIONS 100000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long table[BUCKETS]; /* how many documents are in each bucket */
static unsigned long documents;
static volatile int ending;
static double indexer_seconds;
static double latency[MAX_QUESTIONS];

static double clock_seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint32_t hash_document(unsigned long number)
{
	uint32_t hash = 2166136261u; /* FNV-1a (Fowler, Noll, Vo) over made-up text */

	for (int i = 0; i < 256; i++)
		hash = (hash ^ (uint8_t)(number >> i % 24)) * 16777619u;
	return hash;
}

static void add_batch(const unsigned long *counts)
{
	tl_throttle_hold();
	pthread_mutex_lock(&lock);
	for (int i = 0; i < BUCKETS; i++)
		table[i] += counts[i];
	documents += BATCH;
	pthread_mutex_unlock(&lock);
	tl_throttle_release();
}

static void *index_documents(void *unused)
{
	unsigned long counts[BUCKETS], next = 0;

	pthread_setname_np(pthread_self(), "indexer");
	while (!ending) {
		for (int i = 0; i < BUCKETS; i++)
			counts[i] = 0;
		for (int i = 0; i < BATCH; i++)
			counts[hash_document(next++) % BUCKETS]++;
		add_batch(counts);
	}
	indexer_seconds = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
	return unused;
}

/* Documents in the index, counted bucket by bucket: right only if no batch is half added. */
static unsigned long answer(void)
{
	unsigned long sum = 0, expected;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < BUCKETS; i++)
		sum += table[i];
	expected = documents;
	pthread_mutex_unlock(&lock);
	if (sum != expected)
		abort();
	return sum;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static size_t answer_questions(double until)
{
	size_t count = 0;

	while (count < MAX_QUESTIONS && clock_seconds(CLOCK_MONOTONIC) < until) {
		double begun = clock_seconds(CLOCK_MONOTONIC);

		answer();
		latency[count++] = clock_seconds(CLOCK_MONOTONIC) - begun;
		usleep(1000);
	}
	qsort(latency, count, sizeof(latency[0]), compare);
	return count;
}

int main(int argc, char **argv)
{
	double percent = argc > 1 ? atof(argv[1]) : 20, seconds = argc > 2 ? atof(argv[2]) : 2;
	struct tl_throttle_spec spec = {.size = sizeof(spec),
					.counter = TL_CPU_TIME,
					.budget = (uint64_t)(percent * 1e7),
					.scope = TL_PROCESS,
					.threads = "indexer"};
	tl_throttle *throttle;
	pthread_t indexer;
	double begun = clock_seconds(CLOCK_MONOTONIC);
	size_t questions;
	int err = tl_throttle_open(&throttle, &spec);

	if (err)
		return fprintf(stderr, "throttle_indexer: %s\n", tl_explain(err)), 1;
	if (pthread_create(&indexer, NULL, index_documents, NULL))
		return 1;
	questions = answer_questions(begun + seconds);
	ending = 1;
	pthread_join(indexer, NULL);
	seconds = clock_seconds(CLOCK_MONOTONIC) - begun;
	printf("indexed %lu documents on %.1f %% of a CPU; it paused %.1f %% of the time\n",
	       documents, indexer_seconds / seconds * 100,
	       (double)tl_throttle_paused(throttle) / seconds / 1e7);
	printf("%zu questions answered, half of them within %.0f us, 99 %% within %.0f us\n",
	       questions, latency[questions / 2] * 1e6, latency[questions * 99 / 100] * 1e6);
	tl_throttle_close(throttle);
	/* 50 ms of the budget beforehand, and what it used until its last look. */
	return indexer_seconds > percent / 100 * (seconds + 0.05) + 0.05;
}
