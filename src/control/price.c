/* SPDX-License-Identifier: Apache-2.0 */
#include "control/price.h"

#include "event/perf.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trapline/event.h>
#include <unistd.h>

#define TRIES 24
#define DEFAULT_PRICE 6000u /* ns, where it cannot be measured: a virtual machine's */
#define LOWEST_PRICE 500u
#define HIGHEST_PRICE 200000u

static volatile int watched;
static volatile sig_atomic_t hits;

static void on_hit(int signal)
{
	(void)signal;
	hits++;
}

#define NAPS 20	   /* in a round */
#define ROUNDS 9   /* with events and as many without */
#define NAP 20000u /* ns */
#define EVENTS 3
#define DEFAULT_SWITCH_PRICE 3000u /* ns, where it cannot be measured: a virtual machine's */
#define HIGHEST_SWITCH_PRICE 30000u

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The lowest of all tries: what else happens meanwhile only adds. */
static uint64_t measure(void)
{
	uint64_t lowest = HIGHEST_PRICE;

	for (int i = 0; i < TRIES; i++) {
		uint64_t begin = cpu_time(), taken;

		watched = i;
		taken = cpu_time() - begin;
		if (taken < lowest)
			lowest = taken;
	}
	return lowest;
}

uint64_t price_of_hit(void)
{
	struct perf_request request = {.addr = (uintptr_t)&watched,
				       .length = sizeof(watched),
				       .access = TL_WRITE,
				       .signal = true};
	struct sigaction action = {.sa_handler = on_hit}, before;
	uint64_t price;
	int fd;

	if (sigaction(SIGTRAP, &action, &before))
		return DEFAULT_PRICE;
	hits = 0;
	fd = perf_open(&request, 0);
	price = fd < 0 ? 0 : measure();
	if (fd >= 0)
		close(fd);
	sigaction(SIGTRAP, &before, NULL);
	return hits == TRIES && price >= LOWEST_PRICE && price < HIGHEST_PRICE ? price
									       : DEFAULT_PRICE;
}

static uint64_t nap_cost(void)
{
	struct timespec nap = {.tv_nsec = NAP};
	uint64_t begin = cpu_time();

	for (int i = 0; i < NAPS; i++)
		nanosleep(&nap, NULL);
	return (cpu_time() - begin) / NAPS;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int open_event(bool timer)
{
	static int never;
	struct perf_request request = {
		.disabled = true, .addr = (uintptr_t)&never, .length = 4, .access = TL_WRITE};

	if (timer)
		request = (struct perf_request){
			.disabled = true, .counter = TL_CPU_TIME, .period = 100000};
	return perf_open(&request, 0);
}

/* Medians of rounds in turns: the machine is not idle. */
static uint64_t compare_naps(const int *events, unsigned count)
{
	uint64_t with[ROUNDS], without[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		without[i] = nap_cost();
		for (unsigned j = 0; j < count; j++)
			perf_enable(events[j]);
		with[i] = nap_cost();
		for (unsigned j = 0; j < count; j++)
			perf_disable(events[j]);
	}
	qsort(with, ROUNDS, sizeof(with[0]), compare);
	qsort(without, ROUNDS, sizeof(without[0]), compare);
	return with[ROUNDS / 2] > without[ROUNDS / 2] ? with[ROUNDS / 2] - without[ROUNDS / 2] : 0;
}

uint64_t price_of_switch(bool timer)
{
	int events[EVENTS];
	unsigned count = 0;
	uint64_t price = HIGHEST_SWITCH_PRICE;

	while (count < (timer ? 1 : EVENTS)) {
		events[count] = open_event(timer);
		if (events[count] < 0)
			break;
		count++;
	}
	if (count)
		price = compare_naps(events, count);
	for (unsigned i = 0; i < count; i++)
		close(events[i]);
	return price < HIGHEST_SWITCH_PRICE ? price : DEFAULT_SWITCH_PRICE;
}
