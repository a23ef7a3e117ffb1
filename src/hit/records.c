/* SPDX-License-Identifier: Apache-2.0 */
/* Records of hits, told in the order in which the hits were made and taken back at once. */
#include "hit/records.h"

#include <stdatomic.h>
#include <stdlib.h>

struct waiting {
	uint64_t time, serial;
	unsigned index;
};

static int compare(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Takes a record back. If its thread is leaving it, the thread writes it once more: the record is
 * then not told again, and is taken back later. */
static void take_back(struct hits *hits, unsigned index)
{
	struct following *following = &hits->following[index];

	following->told = !area_hit_take(&hits->program->area->hit[index]);
}

void records_collect(struct hits *hits, const struct records_reader *reader)
{
	struct waiting waiting[AREA_HITS];
	unsigned count = 0;

	for (unsigned i = 0; i < AREA_HITS; i++) {
		struct area_hit *record = &hits->program->area->hit[i];
		/* Acquire: what the thread wrote before publishing. Pairs with area_hit_publish().
		 */
		enum area_hit_state state =
			area_hit_state(atomic_load_explicit(&record->state, memory_order_acquire));

		if (hits->following[i].told)
			take_back(hits, i);
		else if ((state == AREA_HIT_HELD || state == AREA_HIT_LEAVING ||
			  state == AREA_HIT_DONE) &&
			 (!reader->wanted || reader->wanted(hits->program, record)))
			waiting[count++] = (struct waiting){record->entry_time, record->serial, i};
	}
	qsort(waiting, count, sizeof(*waiting), compare);
	for (unsigned i = 0; i < count; i++) {
		area_hit_copy(&hits->copy, &hits->program->area->hit[waiting[i].index]);
		reader->tell(hits->program, &hits->copy);
		take_back(hits, waiting[i].index);
		if (reader->taken)
			reader->taken(hits->program, &hits->copy);
	}
}
