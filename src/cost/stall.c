/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/stall.h"

#include "base/clock.h"

#define HELD_LEAST (10.0 * MILLISECOND) /* of holds; from less nothing is concluded */
/* What was seen counts half as much after so much more of it: */
#define HELD_KEPT (0.2 * SECOND)
#define TIME_KEPT (4.0 * SECOND)
/* What threads that are held at a time may make of it; more is no count of ours. */
#define TIMES_MOST 128
#define USED_LEAST 0.1 /* CPUs; with less in use it says nothing that nobody ran */

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void fade(double *measure, double *other, double kept)
{
	if (*measure <= kept)
		return;
	*measure /= 2;
	*other /= 2;
}

static double lost_part(const struct stall *stall)
{
	double used = stall->time > 0 ? stall->cpu / stall->time : 0, part;

	if (used < USED_LEAST || stall->held < HELD_LEAST)
		return 0;
	part = 1 - stall->busy / stall->held / used;
	return part > 0 ? part : 0;
}

uint64_t stall_look(struct stall *stall, const struct stall_counts *counts)
{
	uint64_t time = since(counts->now, stall->seen.now);
	uint64_t cpu = since(counts->cpu, stall->seen.cpu);
	uint64_t held = at_most(since(counts->held, stall->seen.held), time * TIMES_MOST);
	uint64_t busy = at_most(since(counts->busy, stall->seen.busy), cpu * TIMES_MOST);

	if (stall->seen.now) {
		stall->held += (double)held;
		stall->busy += (double)busy;
		/* Holds of several threads at a time count several times. */
		stall->time += (double)since(time, held);
		stall->cpu += (double)since(cpu, busy);
		fade(&stall->held, &stall->busy, HELD_KEPT);
		fade(&stall->time, &stall->cpu, TIME_KEPT);
	}
	stall->seen = *counts;
	return (uint64_t)((double)held * lost_part(stall));
}

uint32_t stall_parts(const struct stall *stall)
{
	return (uint32_t)(lost_part(stall) * STALL_ALL);
}
