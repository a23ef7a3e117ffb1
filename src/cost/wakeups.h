/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events cost a process whose threads sleep and wake.
 *
 * Each time a thread gets a CPU the kernel writes its watchpoints to the debug registers, or starts
 * the timer of its clock, and undoes it when the thread leaves; in a virtual machine each of these
 * may be an exit to the hypervisor. A server that sleeps and wakes 50,000 times a second pays a
 * tenth of its CPU time for slots that never trip. Nobody counts this, so it is estimated: wake-ups
 * a second, times how long events were on, times the price of one, bounded by what is seen
 * (cost/bound.h).
 *
 * Pure arithmetic: the caller says what time it is and what it has counted. One for each process.
 */
#ifndef COST_WAKEUPS_H
#define COST_WAKEUPS_H

/*
 * ns of CPU time that a thread pays each time it gets a CPU, whatever is armed: while slots and
 * clocks are open in it, and, once it has had an event, from then on until it ends, since the
 * kernel keeps the empty context. Of the virtual machine that this was written on, Linux 6.18
 * (tests/kernel/disabled.c): 2.66 us for a switch between two threads by a pipe, 3.53 with three
 * slots and two clocks open and disabled, 2.83 once they were closed.
 */
#define PRICE_OPEN 700
#define PRICE_CLOSED 170

#include "cost/bound.h"
#include "cost/prices.h"

struct wakeups {
	double rate; /* wake-ups a second, of all threads together */
	double cpus; /* CPUs that the process uses, on average */
	struct bound bound;
	/* Not charged yet. Slots that are armed in all threads cost as much together as one
	 * does. */
	unsigned armed; /* slots, in all threads */
	uint64_t armed_since, armed_time;
	double single;	 /* wake-ups of single threads while a slot was armed in them alone */
	double switched; /* wake-ups, whatever was armed */
	bool open;	 /* slots and clocks are open while nothing is armed */
	/* At the last count: */
	uint64_t counted, cpu_time, counted_at;
};

void wakeups_arm(struct wakeups *wakeups, uint64_t now);
void wakeups_silence(struct wakeups *wakeups, uint64_t now);
/* A slot was armed for `time` ns in one thread alone, which wakes `rate` times a second, and is
 * disarmed now. */
void wakeups_silence_single(struct wakeups *wakeups, double rate, uint64_t time);

/* Takes in a census: the process's threads have got a CPU `count` times so far, and used
 * `cpu_time` ns. A count that has fallen leaves the rate as it was: threads that ended took
 * theirs with them. */
void wakeups_count(struct wakeups *wakeups, uint64_t now, uint64_t count, uint64_t cpu_time);

/* What an armed slot costs a thread of this process at each wake-up, ns. */
double wakeups_price(const struct wakeups *wakeups, const struct prices *prices);

/* The part of a process's CPU time that goes to starting and stopping the clock of samples at
 * each switch while it is on. A price of many times the CPU time between two switches makes
 * switches rarer and takes nearly all of the CPU time, but never more than that. */
double wakeups_timer_share(const struct wakeups *wakeups, const struct prices *prices);

/* ns of the program's CPU time. `wakeups` may be negative: it gives back what was charged by a
 * guess. */
struct wakeups_cost {
	double wakeups;
	double samples; /* the clocks' interrupts */
	double idle;	/* what threads pay whatever is armed */
};

/* What the time since the last call cost; samples were on for `sampled` ns of it. */
struct wakeups_cost wakeups_charge(struct wakeups *wakeups, const struct prices *prices,
				   uint64_t now, uint64_t sampled);

#endif
