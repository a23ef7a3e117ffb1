/* SPDX-License-Identifier: Apache-2.0 */
#include "history/looked.h"

#include "history/weights.h"

static void add(struct looked_set *set, uint64_t member)
{
	/* Fibonacci hashing: the upper bits of a product by 2^64 over the golden ratio. */
	uint64_t place = member * 0x9e3779b97f4a7c15ull >> 48;
	uint64_t bit = 1ull << (place % 64);

	set->members += !(set->word[place / 64] & bit);
	set->word[place / 64] |= bit;
}

_Static_assert(LOOKED_BITS == 1u << (64 - 48), "a hash is a place in the table");

void looked_ran(struct looked *looked, pid_t tid, uint64_t pc)
{
	add(&looked->ran, pc / SITE_BYTES);
	add(&looked->threads, (uint64_t)tid);
}

void looked_reached(struct looked *looked, pid_t tid, uint64_t pc)
{
	looked_ran(looked, tid, pc);
	add(&looked->reached, pc / SITE_BYTES);
}
