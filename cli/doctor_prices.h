/* SPDX-License-Identifier: Apache-2.0 */
/* What a debug register costs on this machine, measured: machines differ tenfold. */
#ifndef CLI_DOCTOR_PRICES_H
#define CLI_DOCTOR_PRICES_H

#include <stdint.h>

/* All in ns of CPU time. */
struct doctor_prices {
	uint64_t hit;	 /* trap and signal of one hit, without what the handler does */
	uint64_t wakeup; /* a thread's sleep and wake-up while all slots are armed in it */
	uint64_t sample; /* the interrupt of one clock sample */
};

/* Takes some 200 ms, and sleeps for nearly all of it. Watchpoints must work. */
void doctor_prices_measure(struct doctor_prices *prices);
/* Prints the prices, and what a budget of 1 percent buys at them. */
void doctor_prices_print(const struct doctor_prices *prices);
/* Prints them as a member of the JSON form. */
void doctor_prices_print_json(const struct doctor_prices *prices);

#endif
