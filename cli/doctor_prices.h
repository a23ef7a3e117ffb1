/* SPDX-License-Identifier: Apache-2.0 */
/* What a debug register costs on this machine, measured: machines differ tenfold. */
#ifndef CLI_DOCTOR_PRICES_H
#define CLI_DOCTOR_PRICES_H

#include <stdint.h>

/* ns of CPU time */
struct doctor_prices {
	uint64_t hit;	 /* trap and signal of one hit, beside the handler */
	uint64_t wakeup; /* a thread sleeps and wakes while all slots are armed in it */
	uint64_t sample; /* the interrupt of one clock sample */
};

/* Takes some 200 ms, nearly all of it asleep. Watchpoints must work. */
void doctor_prices_measure(struct doctor_prices *prices);
/* With what a budget of 1 percent buys at these prices. */
void doctor_prices_print(const struct doctor_prices *prices);
/* A member of the JSON form. */
void doctor_prices_print_json(const struct doctor_prices *prices);

#endif
