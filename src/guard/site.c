/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/site.h"

#include "base/syscall.h"
#include "base/uncounted.h"
#include "record/guard.h"

#include <stdatomic.h>
#include <stddef.h>

#define SITES 8192u /* known at a time; a power of two */
#define SITE_WAYS 4u
#define SLOT_WORDS 64u	/* of the stack, in which a caller's return address is looked for */
#define SLOT_TRIES 16u	/* at a site, of which each is a system call */
#define OTHERS_MOST 16u /* blocks of one site, shown for the word above alone */

/* A return address, as far as its function allocates for others. */
struct site {
	_Atomic uint64_t caller; /* 0: free */
	_Atomic uint64_t above;	 /* the first return address seen above it */
	/* Where that stands, in words above the stack pointer; 0: not found. A function whose frame
	 * varies in size has it in other places, and is not split. */
	_Atomic uint32_t slot;
	_Atomic uint32_t split;
	_Atomic uint32_t tries; /* to find where it stands */
	/* Where every block is guarded: those above which another word stood until it was split. */
	_Atomic uint32_t others;
};

static UNCOUNTED struct site sites[SITES];
UNCOUNT(sites);

uint64_t site_mix(uint64_t a, uint64_t b)
{
	uint64_t mixed = (a ^ (b << 32 | b >> 32)) * 0xd6e8feb86659fd93ull;

	return mixed ^ mixed >> 32;
}

static struct site *find_site(uint64_t caller, bool make)
{
	uint32_t first = (uint32_t)(site_mix(caller, 0) % SITES) / SITE_WAYS * SITE_WAYS;

	for (uint32_t i = first; i < first + SITE_WAYS; i++) {
		uint64_t seen = atomic_load_explicit(&sites[i].caller, memory_order_relaxed);

		if (seen == caller)
			return &sites[i];
		if (!seen && make &&
		    atomic_compare_exchange_strong_explicit(&sites[i].caller, &seen, caller,
							    memory_order_relaxed,
							    memory_order_relaxed))
			return &sites[i];
	}
	return NULL;
}

struct site *site_find(uint64_t caller)
{
	return find_site(caller, false);
}

bool site_is_split(const struct site *site)
{
	return site && atomic_load_explicit(&site->split, memory_order_relaxed);
}

/* The word stood there in every call that was looked at, so it lies in the frame of a function
 * that is running now. 0: nothing is known. */
static uint64_t word_above(const struct allocation_caller *caller, const struct site *site)
{
	const uint64_t *stack = (const uint64_t *)caller->stack_pointer;
	uint32_t slot = site ? atomic_load_explicit(&site->slot, memory_order_relaxed) : 0;

	/* A frame of a size of its own (alloca(), the first one of a coroutine) may end before that
	 * word; what is on the page of the stack pointer can be read in any case. */
	if (!slot || ((uintptr_t)&stack[slot - 1] ^ caller->stack_pointer) / GUARD_PAGE)
		return 0;
	return stack[slot - 1];
}

uint64_t site_key(const struct allocation_caller *caller, const struct site *site)
{
	return site_mix(caller->pc, site_is_split(site) ? word_above(caller, site) : 0);
}

static uint32_t find_slot(const struct allocation_caller *caller, uint64_t above)
{
	uint64_t words[SLOT_WORDS];
	ssize_t got = raw_read_memory(words, caller->stack_pointer, sizeof(words));

	for (uint32_t i = 0; got > 0 && i < (size_t)got / sizeof(words[0]); i++)
		if (words[i] == above)
			return i + 1;
	return 0;
}

void site_learn(const struct allocation_caller *caller, const struct allocation_event *event)
{
	struct site *site = event->frames > 1 ? find_site(caller->pc, true) : NULL;
	uint64_t above = site ? event->frame[1] : 0, known;
	uint32_t slot;

	if (!site || atomic_load_explicit(&site->split, memory_order_relaxed))
		return;
	known = atomic_load_explicit(&site->above, memory_order_relaxed);
	if (known == above ||
	    atomic_load_explicit(&site->tries, memory_order_relaxed) >= SLOT_TRIES)
		return;
	atomic_fetch_add_explicit(&site->tries, 1, memory_order_relaxed);
	slot = find_slot(caller, above);
	if (!known) {
		atomic_store_explicit(&site->above, above, memory_order_relaxed);
		atomic_store_explicit(&site->slot, slot, memory_order_relaxed);
	} else if (slot && slot == atomic_load_explicit(&site->slot, memory_order_relaxed)) {
		atomic_store_explicit(&site->split, 1, memory_order_relaxed);
	}
}

bool site_is_seen(const struct site *site)
{
	return site_is_split(site) ||
	       (site && atomic_load_explicit(&site->slot, memory_order_relaxed) &&
		atomic_load_explicit(&site->others, memory_order_relaxed) < OTHERS_MOST);
}

/* Of a context of its own the first blocks are guarded, so that site_learn() sees them. Where the
 * word is none of a caller's, that ends after some. */
uint64_t site_key_of_other(const struct allocation_caller *caller, struct site *site)
{
	uint64_t word = word_above(caller, site);

	if (!word || word == atomic_load_explicit(&site->above, memory_order_relaxed))
		return site_mix(caller->pc, 0);
	atomic_fetch_add_explicit(&site->others, 1, memory_order_relaxed);
	return site_mix(caller->pc, word);
}
