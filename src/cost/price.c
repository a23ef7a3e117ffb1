/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/price.h"

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
#define ATTEMPTS 3
#define EVENTS 3
#define DEFAULT_SWITCH_PRICE 3000u /* ns, where it cannot be measured: a virtual machine's */
#define HIGHEST_SWITCH_PRICE 30000
#define WORK 2000000u /* rounds of a loop: a millisecond or less */
#define WORK_ROUNDS 7
#define DEFAULT_SAMPLE_PRICE 3000u /* ns, where it cannot be measured */

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void lower(uint64_t *lowest, uint64_t cost)
{
	if (cost < *lowest)
		*lowest = cost;
}

/* The lowest of all tries counts, since whatever else runs meanwhile only adds time. */
static uint64_t measure(void)
{
	uint64_t lowest = HIGHEST_PRICE;

	for (int i = 0; i < TRIES; i++) {
		uint64_t begin = cpu_time();

		watched = i;
		lower(&lowest, cpu_time() - begin);
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

static int open_clock(uint64_t period)
{
	struct perf_request request = {.disabled = true, .counter = TL_CPU_TIME, .period = period};

	return perf_open(&request, 0);
}

static int open_event(void)
{
	static int never;
	struct perf_request request = {
		.disabled = true, .addr = (uintptr_t)&never, .length = 4, .access = TL_WRITE};

	return perf_open(&request, 0);
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int64_t price_middle(int64_t *prices, unsigned count)
{
	qsort(prices, count, sizeof(prices[0]), compare);
	return prices[count / 2];
}

/* The median of what events add to a round, each compared with the round before it. Other work
 * adds to either kind of round, and a virtual machine's exits are of two kinds, so one cheap
 * round says nothing; nor does the difference of two medians, if the machine is busy in one half
 * of the time and idle in the other. */
static int64_t compare_naps(const int *events, unsigned count)
{
	int64_t more[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		more[i] = -(int64_t)nap_cost();
		for (unsigned j = 0; j < count; j++)
			perf_enable(events[j]);
		more[i] += (int64_t)nap_cost();
		for (unsigned j = 0; j < count; j++)
			perf_disable(events[j]);
	}
	return price_middle(more, ROUNDS);
}

uint64_t price_of_switch(void)
{
	int events[EVENTS];
	unsigned count = 0;
	int64_t price = 0;

	while (count < EVENTS) {
		events[count] = open_event();
		if (events[count] < 0)
			break;
		count++;
	}
	/* A price of zero or less is wrong: other work ran during the naps without events. */
	for (int i = 0; count && i < ATTEMPTS && price <= 0; i++)
		price = compare_naps(events, count);
	for (unsigned i = 0; i < count; i++)
		close(events[i]);
	return price > 0 && price < HIGHEST_SWITCH_PRICE ? (uint64_t)price : DEFAULT_SWITCH_PRICE;
}

static uint64_t work_cost(void)
{
	uint64_t begin = cpu_time();

	for (unsigned i = 0; i < WORK; i++)
		__asm__ volatile("" : "+r"(i));
	return cpu_time() - begin;
}

uint64_t price_of_sample(uint64_t period)
{
	uint64_t with = UINT64_MAX, without = UINT64_MAX, more;
	int clock = open_clock(period);

	if (clock < 0)
		return DEFAULT_SAMPLE_PRICE;
	for (int i = 0; i < WORK_ROUNDS; i++) {
		lower(&without, work_cost());
		perf_enable(clock);
		lower(&with, work_cost());
		perf_disable(clock);
	}
	close(clock);
	more = with > without ? (with - without) * period / with : 0;
	return more < period && more > LOWEST_PRICE ? more : DEFAULT_SAMPLE_PRICE;
}
