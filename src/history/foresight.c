/* SPDX-License-Identifier: Apache-2.0 */
#include "history/foresight.h"

#include <stddef.h>
#include <trapline/event.h>

static bool have_common_lock(const struct foreseen *a, const struct foreseen *b)
{
	for (unsigned i = 0; i < FORESIGHT_LOCKS; i++)
		for (unsigned j = 0; j < FORESIGHT_LOCKS; j++)
			if (a->lock[i] && a->lock[i] == b->lock[j])
				return true;
	return false;
}

static bool conflict(const struct foreseen *a, const struct foreseen *b)
{
	/* A thread that is yet to be created may turn out to be one of those that exist: nobody
	 * knows. */
	if (!b->tid || (a->tid < 0) != (b->tid < 0))
		return false;
	return a->tid != b->tid && a->time - b->time < FORESIGHT_AGE &&
	       ((a->access | b->access) & TL_WRITE) && !(a->access & b->access & TL_ATOMIC) &&
	       !have_common_lock(a, b);
}

static size_t place_of(uint64_t number)
{
	return (number * 0x9e3779b97f4a7c15ull >> 32) % FORESIGHT_WORDS;
}

enum foresight_view foresight_view(const struct foresight *foresight, uint64_t address)
{
	const struct foreseen_word *word = &foresight->word[place_of(address / 8)];

	if (word->number != address / 8)
		return FORESIGHT_NOTHING;
	return word->shared ? FORESIGHT_SHARED : FORESIGHT_PRIVATE;
}

unsigned foresight_note(struct foresight *foresight, uint64_t address,
			const struct foreseen *access, struct foreseen others[static 2])
{
	uint64_t number = address / 8;
	struct foreseen_word *word = &foresight->word[place_of(number)];
	unsigned count = 0;

	if (word->number != number)
		*word = (struct foreseen_word){.number = number};
	if (conflict(access, &word->writer))
		others[count++] = word->writer;
	if (conflict(access, &word->reader))
		others[count++] = word->reader;
	word->shared |= count > 0;
	*(access->access & TL_WRITE ? &word->writer : &word->reader) = *access;
	return count;
}
