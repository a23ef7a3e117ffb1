/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/guard.h"

#include "base/uncounted.h"

UNCOUNTED struct guard_table guard_table;
UNCOUNT(guard_table);
_Static_assert(GUARD_FILTER == 1u << (64 - 51), "guard_filter_place() takes so many bits");

/*
 * Where guarded blocks begin, a bit for each granule of 1 KiB, by a hash of its number. Two that
 * hash alike share bits: what is found there is looked up. Accepted loss: when a block goes, one
 * that shares its bit is not found any more by an address inside it.
 */
#define STARTS 8192u /* a power of two */
#define STARTS_SPAN (64u * GUARD_ALIGNMENT)
static _Atomic uint64_t starts[STARTS];

_Atomic uint8_t guard_filter[GUARD_FILTER];

/*
 * How far each block reaches from where it begins, in granules; REACH_MOST: at least so far. Who
 * asks which block is around an address learns from it that none is, as nearly always, without the
 * record, which is in no cache.
 */
static _Atomic uint8_t reach[GUARD_BLOCKS];
#define REACH_MOST UINT8_MAX

static void note_reach(uint32_t place, uint64_t address)
{
	const struct guard_record *record = &guard_table.record[place];
	uint64_t bytes = record->raw + record->room - address;
	uint64_t granules = (bytes + GUARD_ALIGNMENT - 1) / GUARD_ALIGNMENT;

	atomic_store_explicit(&reach[place],
			      (uint8_t)(granules < REACH_MOST ? granules : REACH_MOST),
			      memory_order_relaxed);
}

static bool may_reach(uint32_t place, uint64_t bytes)
{
	uint8_t most = atomic_load_explicit(&reach[place], memory_order_relaxed);

	return most == REACH_MOST || bytes / GUARD_ALIGNMENT < most;
}

/* From one more block to one less. */
static void filter_count(uint64_t address, int by)
{
	_Atomic uint8_t *count = &guard_filter[guard_filter_place(address)];
	uint8_t seen = atomic_load_explicit(count, memory_order_relaxed);

	while (seen != UINT8_MAX &&
	       !atomic_compare_exchange_weak_explicit(count, &seen, (uint8_t)(seen + by),
						      memory_order_relaxed, memory_order_relaxed))
		;
}

static _Atomic uint64_t *starts_of(uint64_t span)
{
	return &starts[span * 0x9e3779b97f4a7c15ull >> 32 & (STARTS - 1)];
}

static uint64_t start_bit(uint64_t address)
{
	return 1ull << address / GUARD_ALIGNMENT % 64;
}

uint32_t guard_claim(uint64_t address)
{
	uint32_t first = guard_place(address);

	for (uint32_t place = first; place < first + GUARD_WAYS; place++) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong_explicit(
			    &guard_table.entry[place], &none, guard_word(address, GUARD_BUSY),
			    memory_order_acquire, memory_order_relaxed))
			return place;
	}
	return GUARD_NOWHERE;
}

uint32_t guard_oldest_dead(uint64_t address)
{
	uint32_t first = guard_place(address), oldest = GUARD_NOWHERE;

	for (uint32_t place = first; place < first + GUARD_WAYS; place++)
		if (guard_state(atomic_load_explicit(&guard_table.entry[place],
						     memory_order_acquire)) == GUARD_DEAD &&
		    (oldest == GUARD_NOWHERE ||
		     guard_table.record[place].freed.time < guard_table.record[oldest].freed.time))
			oldest = place;
	return oldest;
}

uint32_t guard_find(uint64_t address)
{
	uint32_t first = guard_place(address);

	if (!address || address % GUARD_ALIGNMENT)
		return GUARD_NOWHERE;
	for (uint32_t place = first; place < first + GUARD_WAYS; place++)
		if (guard_address(atomic_load_explicit(&guard_table.entry[place],
						       memory_order_acquire)) == address)
			return place;
	return GUARD_NOWHERE;
}

bool guard_is_around(uint32_t place, uint64_t address)
{
	uint64_t word = atomic_load_explicit(&guard_table.entry[place], memory_order_acquire);
	const struct guard_record *record = &guard_table.record[place];

	return (guard_state(word) == GUARD_LIVE || guard_state(word) == GUARD_DEAD) &&
	       address >= record->raw && address - record->raw < record->room;
}

/* The block that begins last among these places, which is around the address or none is. */
static uint32_t find_in_span(uint64_t span, uint64_t bits, uint64_t address, bool *found)
{
	while (bits) {
		unsigned last = 63 - (unsigned)__builtin_clzll(bits);
		uint64_t start = span * STARTS_SPAN + last * GUARD_ALIGNMENT;
		uint32_t place = guard_find(start);

		*found = place != GUARD_NOWHERE;
		if (*found &&
		    (!may_reach(place, address - start) || !guard_is_around(place, address)))
			return GUARD_NOWHERE;
		if (*found)
			return place;
		bits &= ~(1ull << last);
	}
	return GUARD_NOWHERE;
}

static uint32_t find_near(uint64_t address)
{
	uint64_t span = address / STARTS_SPAN, bit = start_bit(address);
	bool found = false;
	uint32_t place = find_in_span(span,
				      atomic_load_explicit(starts_of(span), memory_order_relaxed) &
					      (bit | (bit - 1)),
				      address, &found);

	if (found)
		return place;
	span--;
	return find_in_span(span,
			    atomic_load_explicit(starts_of(span), memory_order_relaxed) & -bit,
			    address, &found);
}

uint32_t guard_find_around(uint64_t address, bool all)
{
	if (!all)
		return find_near(address);
	for (uint32_t place = 0; place < GUARD_BLOCKS; place++)
		if (guard_is_around(place, address))
			return place;
	return GUARD_NOWHERE;
}

/* Those on pages of their own are known by their pages, and are so many in so much address space
 * that their bits would be taken for others'. */
static void note_start(uint32_t place, uint64_t address)
{
	filter_count(address, 1);
	if (guard_table.record[place].run)
		return;
	note_reach(place, address);
	atomic_fetch_or_explicit(starts_of(address / STARTS_SPAN), start_bit(address),
				 memory_order_relaxed);
}

static void forget(uint32_t place, uint64_t address)
{
	filter_count(address, -1);
	if (guard_table.record[place].run)
		return;
	atomic_fetch_and_explicit(starts_of(address / STARTS_SPAN), ~start_bit(address),
				  memory_order_relaxed);
}

_Atomic uint64_t guard_longest;

static void note_length(uint64_t length)
{
	uint64_t seen = atomic_load_explicit(&guard_longest, memory_order_relaxed);

	while (seen < length &&
	       !atomic_compare_exchange_weak_explicit(&guard_longest, &seen, length,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

struct guard_ground guard_ground(const struct guard_record *record)
{
	if (record->run)
		return (struct guard_ground){record->run, (record->pages + 1ull) * GUARD_PAGE};
	return (struct guard_ground){record->raw, record->room};
}

/* Those on pages of their own are known by where they are. */
static void note_freed(uint32_t place, int by)
{
	const struct guard_record *record = &guard_table.record[place];

	if (by > 0)
		note_length(guard_ground(record).length);
	if (!record->run && record->room >= GUARD_PAGE)
		granule_note(record->raw, record->room, by);
}

bool guard_change(uint32_t place, enum guard_state from, enum guard_state to)
{
	uint64_t address = guard_address(
		atomic_load_explicit(&guard_table.entry[place], memory_order_relaxed));
	uint64_t seen = guard_word(address, from);
	bool changed;

	/* Before anybody can look for it; and as long as somebody may. */
	if (to == GUARD_LIVE)
		note_start(place, address);
	if (to == GUARD_DEAD)
		note_freed(place, 1);
	changed = atomic_compare_exchange_strong_explicit(&guard_table.entry[place], &seen,
							  guard_word(address, to),
							  memory_order_acq_rel,
							  memory_order_relaxed);
	if (changed && from == GUARD_DEAD)
		note_freed(place, -1);
	return changed;
}

/* As that of no address: taken, and not to be found. */
#define HIDDEN guard_word(0, GUARD_BUSY)

bool guard_hide(uint32_t place, uint64_t address)
{
	uint64_t seen = guard_word(address, GUARD_LIVE);

	if (!atomic_compare_exchange_strong_explicit(&guard_table.entry[place], &seen, HIDDEN,
						     memory_order_acq_rel, memory_order_relaxed))
		return false;
	/* Before the allocator has the memory, and another block may begin there. */
	forget(place, address);
	return true;
}

void guard_show(uint32_t place, uint64_t address)
{
	note_start(place, address);
	atomic_store_explicit(&guard_table.entry[place], guard_word(address, GUARD_LIVE),
			      memory_order_release);
}

void guard_drop_hidden(uint32_t place)
{
	atomic_store_explicit(&guard_table.entry[place], 0, memory_order_release);
}

void guard_drop(uint32_t place)
{
	uint64_t word = atomic_load_explicit(&guard_table.entry[place], memory_order_relaxed);

	if (guard_state(word) == GUARD_LEAVING)
		forget(place, guard_address(word));
	atomic_store_explicit(&guard_table.entry[place], 0, memory_order_release);
}
