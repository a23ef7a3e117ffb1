/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What single things cost the program on this machine, ns of CPU time, measured on threads of our
 * own (cost/price.c says how). A hit is measured at the start, before anything is watched; the rest
 * by a thread beside the controller's, which takes some 50 ms, nearly all of it asleep. What
 * threads that sleep and wake pay is measured three times in the first seconds and the median
 * counts, since one measurement in some twenty is far off, for example where the machine has just
 * become busy.
 *
 * The controller's thread starts and ends the measuring thread; any thread may read the prices,
 * which are 0 until they are known.
 */
#ifndef COST_PRICES_H
#define COST_PRICES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PRICES_ROUNDS 3

struct prices {
	uint64_t hit;		 /* the trap and the signal of one hit, beside the handler */
	_Atomic uint64_t wakeup; /* a thread sleeps and wakes while slots are armed in it */
	_Atomic uint64_t
		timer; /* a CPU is handed to another thread while the clock of samples is on */
	_Atomic uint64_t sample; /* the interrupt of one sample */
	uint64_t period;	 /* ns of CPU time between samples, of which that is the price */
	pthread_t thread;
	bool measuring;
	unsigned begun;
	_Atomic unsigned ended;
	int64_t round[PRICES_ROUNDS]; /* of `wakeup`; the thread's while it runs */
};

/* `at_once`: the first round begins now, and prices_run() will not be called. */
void prices_start(struct prices *prices, uint64_t period, bool at_once);
/* Begins a round when it is due; `age`: ns since prices_start(). */
void prices_run(struct prices *prices, uint64_t age);
/* Waits for the measuring thread, which does not exist in a forked copy of this process. */
void prices_end(struct prices *prices);

#endif
