/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that many threads come to all the time. A watch has all it wanted after some hits, but
 * lasts until each thread has been interrupted; among hundreds of busy ones that takes long enough
 * for ten thousand more, a second's budget of twenty. Such an address is not watched again before
 * the time in which the budget pays for what it cost.
 */
#include "control/private.h"

#include <stdatomic.h>

static struct dear *dear_at(struct target *target, uint64_t address)
{
	return &target->dear[(address * 0x9e3779b97f4a7c15ull >> 32) % DEAR_MAX];
}

void dear_note(struct target *target, const struct slot *slot)
{
	const struct control *control = target->control;
	uint64_t hits = atomic_load(&target->shared->slot[slot->index].hits);
	uint64_t over = hits > slot->watch.hits ? hits - slot->watch.hits : 0;
	double pays = (double)(over * control->hit_price) * 100 / control->options.budget; /* ns */
	struct dear *dear = dear_at(target, slot->watch.address);
	uint64_t until = control_now() + (uint64_t)pays;

	/* Of two that fall together the dearer is remembered. */
	if (!over || (dear->address != slot->watch.address && dear->until > until))
		return;
	*dear = (struct dear){.address = slot->watch.address,
			      .until = until,
			      .by_writers = slot->watch.access == TL_WRITE && !slot->widenings};
}

bool dear_is(struct target *target, const struct tl_watch *watch)
{
	const struct dear *dear = dear_at(target, watch->address);

	if (dear->address != watch->address || control_now() >= dear->until)
		return false;
	/* What readers made dear writers may not. */
	return dear->by_writers || watch->widen || (watch->access & TL_READ);
}
