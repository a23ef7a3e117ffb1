/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/bound.h"

#include <string.h>

#define ENOUGH 1000.0 /* Switches between two looks; an average over fewer says nothing. */
/* A look counts as one with slots armed when they were armed at no less than WITH_SHARE of its
 * switches, and as one without when they were armed at no more than WITHOUT_SHARE of them. */
#define WITH_SHARE 0.5
#define WITHOUT_SHARE 0.1
/* A price is doubted when it is more than half of the CPU time from one switch to the next. */
#define STANDS_OUT 2.0
/* Until that time is known both with slots and without, a doubted price counts as a quarter of it
 * at most; afterwards as an eighth of it at least, since the difference of the two is not exact. */
#define GUESS_PARTS 4.0
#define LEAST_PARTS 8.0
/* The difference counts twice: some of the kernel's work is done as the CPU goes idle, where it is
 * nobody's time. */
#define UNSEEN 2.0

static double mean(double known, double seen)
{
	return known > 0 ? (3 * known + seen) / 4 : seen;
}

void bound_look(struct bound *bound, double switches, uint64_t cpu_time)
{
	double armed = bound->armed;

	bound->armed = 0;
	if (switches < ENOUGH)
		return;
	if (armed >= WITH_SHARE * switches)
		bound->with = mean(bound->with, (double)cpu_time / switches);
	else if (armed <= WITHOUT_SHARE * switches)
		bound->without = mean(bound->without, (double)cpu_time / switches);
}

static bool is_known(const struct bound *bound)
{
	return bound->with > 0 && bound->without > 0;
}

/* CPU time from one switch to the next, ns: the one without slots, where that is known. */
static double passes(const struct bound *bound)
{
	return bound->without > 0 ? bound->without : bound->with;
}

double bound_price(const struct bound *bound, double price)
{
	double least, more;

	if (passes(bound) <= 0 || price * STANDS_OUT <= passes(bound))
		return price;
	if (!is_known(bound))
		return price < passes(bound) / GUESS_PARTS ? price : passes(bound) / GUESS_PARTS;
	least = bound->without / LEAST_PARTS;
	more = UNSEEN * (bound->with - bound->without);
	more = more > least ? more : least;
	return price < more ? price : more;
}

static double give_back(struct bound *bound, double price)
{
	double owed = bound->guessed * price;
	double back = bound->charged > owed ? bound->charged - owed : 0;

	bound->guessed = bound->charged = 0;
	return back;
}

double bound_charge(struct bound *bound, double switches, double price)
{
	double believed = bound_price(bound, price);

	bound->armed += switches;
	if (is_known(bound))
		return switches * believed - give_back(bound, believed);
	bound->guessed += switches;
	bound->charged += switches * believed;
	return switches * believed;
}
