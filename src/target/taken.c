/* SPDX-License-Identifier: Apache-2.0 */
#include "target/taken.h"

#include "base/clock.h"
#include "inject/inject.h"
#include "target/target.h"

#include <stdatomic.h>

/* ns between two looks at COUNTS_AT_ONCE counts; with more counts, longer. Each count that is read
 * interrupts the CPU where its thread runs. */
#define LOOK_EVERY (20 * MILLISECOND)
#define COUNTS_AT_ONCE 64

/* ns between two stops of a thread to ask it, doubled up to ASKS_GROW times: the handler is not
 * heard of either while hits are pending in a thread that blocks SIGTRAP. */
#define ASK_EVERY SECOND
#define ASKS_GROW 6

/* Hits since the last look. A slot that was opened anew counts from 0. */
static uint64_t new_hits(struct slot *slot)
{
	uint64_t count = coverage_count(&slot->coverage) + slot->ended_hits;
	uint64_t found = count > slot->counted ? count - slot->counted : 0;

	slot->counted = count;
	return found;
}

static uint64_t count_new(struct target *target, size_t *read)
{
	uint64_t found = 0;

	for (unsigned i = 0; i < target->slots + target->placed; i++) {
		struct slot *slot = &target->slot[i];

		if (!slot->open || !slot->armed)
			continue;
		found += new_hits(slot);
		*read += slot->coverage.count;
	}
	return found;
}

/* Asks the process, by a stopped thread, whose action SIGTRAP has. Without an answer it is asked
 * again later. */
static void ask(struct target *target, uint64_t now)
{
	struct taken *taken = &target->taken;

	taken->is = inject_asks_action(target->pid) == 0;
	taken->next_ask = now + (ASK_EVERY << (taken->asks < ASKS_GROW ? taken->asks : ASKS_GROW));
	taken->asks++;
	taken->unheard = 0;
}

/* Was our handler heard of since the last look, by a hit or by a limit? */
static bool was_heard(const struct target *target)
{
	return target->taken.delivered != atomic_load(&target->shared->delivered) ||
	       target->taken.looks != atomic_load(&target->shared->looks);
}

static void note_heard(struct target *target)
{
	target->taken.delivered = atomic_load(&target->shared->delivered);
	target->taken.looks = atomic_load(&target->shared->looks);
}

bool taken_look(struct target *target)
{
	struct taken *taken = &target->taken;
	uint64_t now = clock_now(), limits;
	size_t read = 0;
	bool heard, unheard;

	if (taken->is || now < taken->next_look)
		return taken->is;
	heard = was_heard(target);
	unheard = taken->unheard && !heard;
	limits = target->program->events->limits_sent(target, heard, &read);
	if (unheard && now >= taken->next_ask)
		ask(target, now);
	else
		taken->unheard = count_new(target, &read) + limits + (unheard ? taken->unheard : 0);
	note_heard(target);
	taken->next_look = now + LOOK_EVERY * (1 + read / COUNTS_AT_ONCE);
	return taken->is;
}
