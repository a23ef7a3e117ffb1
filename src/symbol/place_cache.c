/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/place_cache.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX (1u << 18)

/* Fibonacci hashing: the high bits of the product are well mixed. */
static size_t slot_of(uint64_t address, size_t entries)
{
	return (size_t)(address * 0x9e3779b97f4a7c15u >> 32) & (entries - 1);
}

static struct symbol_place_entry *find_slot(struct symbol_place_entry *entry, size_t entries,
					    uint64_t address)
{
	size_t at = slot_of(address, entries);

	while (entry[at].count && entry[at].address != address)
		at = (at + 1) & (entries - 1);
	return &entry[at];
}

const struct symbol_place_entry *symbol_place_cache_find(const struct symbol_place_cache *cache,
							 uint64_t address)
{
	const struct symbol_place_entry *entry;

	if (!cache || !cache->entries)
		return NULL;
	entry = find_slot(cache->entry, cache->entries, address);
	return entry->count ? entry : NULL;
}

static void empty(struct symbol_place_cache *cache)
{
	for (size_t i = 0; i < cache->entries; i++)
		free(cache->entry[i].frames);
	memset(cache->entry, 0, cache->entries * sizeof(*cache->entry));
	cache->used = 0;
}

static bool grow(struct symbol_place_cache *cache)
{
	size_t entries = cache->entries ? cache->entries * 2 : 64;
	struct symbol_place_entry *entry = calloc(entries, sizeof(*entry));

	if (!entry)
		return false;
	for (size_t i = 0; i < cache->entries; i++)
		if (cache->entry[i].count)
			*find_slot(entry, entries, cache->entry[i].address) = cache->entry[i];
	free(cache->entry);
	cache->entry = entry;
	cache->entries = entries;
	return true;
}

bool symbol_place_cache_add(struct symbol_place_cache **pointer, uint64_t address,
			    const struct symbol_frame *frames, size_t count)
{
	struct symbol_place_cache *cache = *pointer;
	struct symbol_place_entry *entry;
	struct symbol_frame *copy;
	bool emptied = false;

	if (!cache)
		cache = *pointer = calloc(1, sizeof(*cache));
	if (!cache || count == 0)
		return false;
	if (cache->used * 2 >= cache->entries) {
		emptied = cache->entries >= ENTRIES_MAX;
		if (emptied)
			empty(cache);
		else if (!grow(cache))
			return false;
	}
	copy = calloc(count, sizeof(*copy));
	if (!copy)
		return emptied;
	memcpy(copy, frames, count * sizeof(*copy));
	entry = find_slot(cache->entry, cache->entries, address);
	cache->used += entry->count == 0;
	free(entry->frames);
	*entry = (struct symbol_place_entry){address, (unsigned)count, copy};
	/* cppcheck-suppress memleak; the entry owns the copy now */
	return emptied;
}

void symbol_place_cache_free(struct symbol_place_cache *cache)
{
	if (!cache)
		return;
	empty(cache);
	free(cache->entry);
	free(cache);
}
