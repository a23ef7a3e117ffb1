/* SPDX-License-Identifier: Apache-2.0 */
#include "history/period.h"

#include <trapline/event.h>

static struct period *find_period(struct periods *periods, uint64_t identity)
{
	struct period *oldest = &periods->thread[0];

	for (unsigned i = 0; i < PERIODS; i++) {
		struct period *period = &periods->thread[i];

		if (period->identity == identity)
			return period;
		if (period->last < oldest->last)
			oldest = period;
	}
	*oldest = (struct period){.identity = identity};
	return oldest;
}

/* After a time in which the address was not watched, the next visit is a whole number of intervals
 * later, except for holds elsewhere. */
static void note_gap(struct period *period, uint64_t passed, uint64_t bound)
{
	uint64_t rest = passed % period->length;

	if (rest > bound + HOLD_LONGEST && period->length - rest > bound + HOLD_LONGEST)
		period->confirmed = 0;
}

static void note_visit(struct period *period, uint64_t time)
{
	uint64_t passed = time - period->last, bound = period->length / PERIOD_PARTS;

	if (period->length && passed > period->length + bound) {
		note_gap(period, passed, bound);
	} else if (!period->last || passed < PERIOD_LEAST || passed > PERIOD_MOST) {
		*period = (struct period){.identity = period->identity};
	} else {
		period->confirmed = period->length && passed + bound >= period->length
					    ? period->confirmed + 1
					    : 0;
		period->length = passed;
	}
}

/* When the thread comes next; 0: not known. */
static uint64_t next_of(const struct period *period, uint64_t now)
{
	uint64_t passed = now - period->last, count = 1;

	if (period->confirmed < PERIOD_CONFIRMATIONS || period->last > now)
		return 0;
	if (passed + PERIOD_EARLY > period->length)
		count += (passed + PERIOD_EARLY) / period->length;
	return count <= PERIOD_MISSED_MOST ? period->last + count * period->length : 0;
}

static void consider(const struct period *a, const struct period *b, uint64_t now,
		     struct coincidence *coincidence)
{
	uint64_t first = next_of(a, now), second = next_of(b, now);

	if (!a->identity || !b->identity || !((a->access | b->access) & TL_WRITE))
		return;
	coincidence->conflicts = true;
	if (!first || !second)
		return;
	coincidence->periodic = true;
	if (first > second) {
		uint64_t later = first;

		first = second;
		second = later;
	}
	if (second - first + 2 * PERIOD_EARLY > HOLD_LONGEST ||
	    (coincidence->until && coincidence->from <= first - PERIOD_EARLY))
		return;
	coincidence->from = first - PERIOD_EARLY;
	coincidence->until = second + PERIOD_EARLY;
}

struct coincidence period_coincidence(const struct periods *periods, uint64_t now)
{
	struct coincidence coincidence = {0};

	for (unsigned i = 0; i < PERIODS; i++)
		for (unsigned j = i + 1; j < PERIODS; j++)
			consider(&periods->thread[i], &periods->thread[j], now, &coincidence);
	return coincidence;
}

void period_visit(struct periods *periods, const struct visit *visit)
{
	struct period *period = find_period(periods, visit->identity);

	if (visit->entry > period->last + PERIOD_VISIT) {
		note_visit(period, visit->entry);
		period->access = 0;
	}
	period->access |= visit->access;
	period->last = visit->exit;
	periods->seen = visit->entry;
}
