/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor_prices.h"

#include "cost/price.h"

#include <inttypes.h>
#include <stdio.h>

#define ROUNDS 3
#define SAMPLE_PERIOD 1000000u /* ns of CPU time */
#define PERCENT_OF_A_SECOND 10000000u

void doctor_prices_measure(struct doctor_prices *prices)
{
	int64_t round[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		round[i] = (int64_t)price_of_switch();
	prices->wakeup = (uint64_t)price_middle(round, ROUNDS);
	prices->hit = price_of_hit();
	prices->sample = price_of_sample(SAMPLE_PERIOD);
}

static void print_row(const char *what, uint64_t price, const char *buys)
{
	printf("  %6.1f µs  %s", (double)price / 1000, what);
	if (price)
		printf(": %" PRIu64 " %s", PERCENT_OF_A_SECOND / price, buys);
	putchar('\n');
}

void doctor_prices_print(const struct doctor_prices *prices)
{
	puts("\nWhat it costs here, and what --budget 1 buys of it for each CPU that the program "
	     "uses:");
	print_row("a hit, beside its handler", prices->hit, "a second");
	print_row("a thread that sleeps and wakes with slots armed", prices->wakeup,
		  "a second; with more, slots are armed a part of the time");
	print_row("a clock sample", prices->sample, "a second");
}

void doctor_prices_print_json(const struct doctor_prices *prices)
{
	printf("\"prices\":{\"hit_ns\":%" PRIu64 ",\"wakeup_ns\":%" PRIu64 ",\"sample_ns\":%" PRIu64
	       "},",
	       prices->hit, prices->wakeup, prices->sample);
}
