/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a clock event (task-clock) costs at each switch between two threads that hand one CPU to
 * each other.
 *
 * A thread that sleeps for a time sets a kernel timer itself, so that the clock's timer beside it
 * costs little more. A thread that waits for another one sets none: the clock's timer is then the
 * first that is due on its CPU, and each switch programs and stops the hardware's timer, which in a
 * virtual machine is two exits.
 */
#include "cost/handing.h"

#include "cost/price.h"
#include "event/perf.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <trapline/event.h>
#include <unistd.h>

#define TURNS 20 /* handovers in a round, there and back */
#define ROUNDS 7 /* rounds with clocks, and as many without */
#define HIGHEST 100000

struct handing {
	int there[2], back[2];
	pthread_t partner;
	clockid_t clock; /* the partner's CPU time */
	pid_t tid;
};

/* Either thread closes the end that it writes to once it is done, so that the other reads the
 * end of the pipe instead of waiting for ever for a thread that failed. The reading ends stay
 * open until both are done, since writing to a pipe that nobody reads raises SIGPIPE. */
static void *answer(void *argument)
{
	struct handing *handing = argument;
	pid_t tid = gettid();
	char turn;

	if (write(handing->back[1], &tid, sizeof(tid)) == sizeof(tid))
		while (read(handing->there[0], &turn, 1) == 1 &&
		       write(handing->back[1], &turn, 1) == 1)
			;
	close(handing->back[1]);
	return NULL;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int64_t used(const struct handing *handing)
{
	return (int64_t)(read_clock(CLOCK_THREAD_CPUTIME_ID) + read_clock(handing->clock));
}

/* CPU time of one switch, ns. */
static int64_t hand_over(const struct handing *handing)
{
	int64_t begin = used(handing);
	char turn = 0;

	for (int i = 0; i < TURNS; i++)
		if (write(handing->there[1], &turn, 1) != 1 ||
		    read(handing->back[0], &turn, 1) != 1)
			return 0;
	return (used(handing) - begin) / (TURNS * 2);
}

/* The median of what clocks add to a round, each compared with the round before it. */
static int64_t compare(const struct handing *handing, const int *clocks)
{
	int64_t more[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		more[i] = -hand_over(handing);
		for (int j = 0; j < 2; j++)
			perf_enable(clocks[j]);
		more[i] += hand_over(handing);
		for (int j = 0; j < 2; j++)
			perf_disable(clocks[j]);
	}
	return price_middle(more, ROUNDS);
}

static int64_t measure(struct handing *handing, uint64_t period)
{
	struct perf_request request = {.disabled = true, .counter = TL_CPU_TIME, .period = period};
	int clocks[2];
	int64_t price = 0;

	if (read(handing->back[0], &handing->tid, sizeof(handing->tid)) != sizeof(handing->tid) ||
	    pthread_getcpuclockid(handing->partner, &handing->clock))
		return 0;
	clocks[0] = perf_open(&request, 0);
	clocks[1] = perf_open(&request, handing->tid);
	if (clocks[0] >= 0 && clocks[1] >= 0)
		price = compare(handing, clocks);
	for (int i = 0; i < 2; i++)
		if (clocks[i] >= 0)
			close(clocks[i]);
	return price;
}

/* The caller closes the reading ends. */
static int64_t with_partner(struct handing *handing, uint64_t period)
{
	int64_t price = 0;
	bool begun = pthread_create(&handing->partner, NULL, answer, handing) == 0;

	if (begun)
		price = measure(handing, period);
	else
		close(handing->back[1]);
	close(handing->there[1]);
	if (begun)
		pthread_join(handing->partner, NULL);
	return price;
}

uint64_t handing_price(uint64_t period)
{
	struct handing handing;
	int64_t price;

	if (pipe2(handing.there, O_CLOEXEC))
		return 0;
	if (pipe2(handing.back, O_CLOEXEC)) {
		close(handing.there[0]);
		close(handing.there[1]);
		return 0;
	}
	price = with_partner(&handing, period);
	close(handing.there[0]);
	close(handing.back[0]);
	return price > 0 && price < HIGHEST ? (uint64_t)price : 0;
}
