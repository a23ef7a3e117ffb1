/* SPDX-License-Identifier: Apache-2.0 */
#include "control/rhythm.h"

#include <trapline/event.h>

#define MILLISECOND 1000000ull
#define VISIT MILLISECOND /* accesses nearer to each other are one visit */
#define INTERVAL_LEAST (20 * MILLISECOND)
#define CONFIRMATIONS 2 /* once, it may be chance: not every visit is seen */
#define INTERVAL_MOST (4000 * MILLISECOND)
#define REGULAR_PARTS 32  /* two intervals differ by no more than this part of one … */
#define EARLY MILLISECOND /* … and by so much a thread may come before and after its time */
#define MISSED_MOST 8	  /* intervals not seen, after which nothing is foretold */

static struct beat *find_beat(struct rhythm *rhythm, uint64_t identity)
{
	struct beat *oldest = &rhythm->beat[0];

	for (unsigned i = 0; i < BEATS; i++) {
		struct beat *beat = &rhythm->beat[i];

		if (beat->identity == identity)
			return beat;
		if (beat->last < oldest->last)
			oldest = beat;
	}
	*oldest = (struct beat){.identity = identity};
	return oldest;
}

/* After a time that was not watched it is some intervals later, but for holds elsewhere. */
static void note_gap(struct beat *beat, uint64_t passed, uint64_t bound)
{
	uint64_t rest = passed % beat->interval;

	if (rest > bound + HOLD_LONGEST && beat->interval - rest > bound + HOLD_LONGEST)
		beat->confirmed = 0;
}

static void note_visit(struct beat *beat, uint64_t time)
{
	uint64_t passed = time - beat->last, bound = beat->interval / REGULAR_PARTS;

	if (beat->interval && passed > beat->interval + bound) {
		note_gap(beat, passed, bound);
	} else if (!beat->last || passed < INTERVAL_LEAST || passed > INTERVAL_MOST) {
		*beat = (struct beat){.identity = beat->identity};
	} else {
		beat->confirmed = beat->interval && passed + bound >= beat->interval
					  ? beat->confirmed + 1
					  : 0;
		beat->interval = passed;
	}
}

/* When it comes next; 0: not known. */
static uint64_t next_of(const struct beat *beat, uint64_t now)
{
	uint64_t passed = now - beat->last, count = 1;

	if (beat->confirmed < CONFIRMATIONS || beat->last > now)
		return 0;
	if (passed + EARLY > beat->interval)
		count += (passed + EARLY) / beat->interval;
	return count <= MISSED_MOST ? beat->last + count * beat->interval : 0;
}

static void consider(const struct beat *a, const struct beat *b, uint64_t now,
		     struct meeting *meeting)
{
	uint64_t first = next_of(a, now), second = next_of(b, now);

	if (!a->identity || !b->identity || !((a->access | b->access) & TL_WRITE))
		return;
	meeting->shared = true;
	if (!first || !second)
		return;
	meeting->rhythmic = true;
	if (first > second) {
		uint64_t later = first;

		first = second;
		second = later;
	}
	if (second - first + 2 * EARLY > HOLD_LONGEST ||
	    (meeting->until && meeting->from <= first - EARLY))
		return;
	meeting->from = first - EARLY;
	meeting->until = second + EARLY;
}

struct meeting rhythm_meeting(const struct rhythm *rhythm, uint64_t now)
{
	struct meeting meeting = {0};

	for (unsigned i = 0; i < BEATS; i++)
		for (unsigned j = i + 1; j < BEATS; j++)
			consider(&rhythm->beat[i], &rhythm->beat[j], now, &meeting);
	return meeting;
}

void rhythm_visit(struct rhythm *rhythm, const struct visit *visit)
{
	struct beat *beat = find_beat(rhythm, visit->identity);

	if (visit->entry > beat->last + VISIT) {
		note_visit(beat, visit->entry);
		beat->access = 0;
	}
	beat->access |= visit->access;
	beat->last = visit->exit;
	rhythm->seen = visit->entry;
}
