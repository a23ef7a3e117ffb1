/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of symbol_place_find(), by the object's address. Bounded: emptied when full. */
#ifndef SYMBOL_PLACE_CACHE_H
#define SYMBOL_PLACE_CACHE_H

#include "symbol/place.h"

struct symbol_place_entry {
	uint64_t address;
	unsigned count; /* 0: the entry is free */
	struct symbol_frame *frames;
};

struct symbol_place_cache {
	struct symbol_place_entry *entry;
	size_t entries, used;
};

const struct symbol_place_entry *symbol_place_cache_find(const struct symbol_place_cache *cache,
							 uint64_t address);
/* True if the cache was emptied to make room. */
bool symbol_place_cache_add(struct symbol_place_cache **cache, uint64_t address,
			    const struct symbol_frame *frames, size_t count);
void symbol_place_cache_free(struct symbol_place_cache *cache);

#endif
