/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/prices.h"

#include "base/clock.h"
#include "cost/handing.h"
#include "cost/price.h"

#define DEFAULT_TIMER_PRICE 15000u /* ns, where it cannot be measured: a virtual machine's */

/* ns since prices_start() at which each round may begin. The first waits, since it takes a CPU
 * that a short program needs. */
static const uint64_t round_age[PRICES_ROUNDS] = {SECOND / 20, SECOND / 2, 2 * SECOND};

static void *measure(void *argument)
{
	struct prices *prices = argument;
	unsigned round = atomic_load(&prices->ended);

	prices->round[round] = (int64_t)price_of_switch();
	atomic_store(&prices->wakeup, (uint64_t)price_middle(prices->round, round + 1));
	if (!round) {
		uint64_t timer = handing_price(prices->period);

		atomic_store(&prices->timer, timer ? timer : DEFAULT_TIMER_PRICE);
		atomic_store(&prices->sample, price_of_sample(prices->period));
	}
	atomic_store(&prices->ended, round + 1);
	return NULL;
}

static void begin(struct prices *prices)
{
	prices->measuring = !pthread_create(&prices->thread, NULL, measure, prices);
	prices->begun++;
}

void prices_start(struct prices *prices, uint64_t period, bool at_once)
{
	prices->hit = price_of_hit();
	prices->period = period;
	if (at_once)
		begin(prices);
}

void prices_run(struct prices *prices, uint64_t age)
{
	unsigned ended = atomic_load(&prices->ended);

	if (ended != prices->begun || ended == PRICES_ROUNDS || age < round_age[ended])
		return;
	prices_end(prices);
	begin(prices);
}

void prices_end(struct prices *prices)
{
	if (prices->measuring)
		pthread_join(prices->thread, NULL);
	prices->measuring = false;
}
