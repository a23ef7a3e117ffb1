/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/object.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "base/syscall.h"

/* Of glibc 2.35: the preload library is loaded with an older one too, and finds no tables there. */
#pragma weak _dl_find_object

#define PAGE_MASK (~(uint64_t)4095)
#define SEGMENT_LIMIT 64 /* program headers looked at */
#define SETS 32u	 /* of the cache; a power of two */
#define WAYS 4u
#define HEADERS 8u /* program headers read at a time: most objects have no more */

/*
 * Segments found before, so that the program headers of an object are read once. Objects that
 * stacks lead through again and again may fall into one set, so that has several places. `version`
 * is odd while a thread writes; a reader that sees it odd or changed does without. A stale entry of
 * an unloaded object is used again only for an object mapped to the very same range with its table
 * at the same place.
 */
static struct cached_segment {
	uint64_t version;
	uint64_t map_start;
	uint64_t map_end;
	uint64_t exception_table;
	uint64_t first;
	uint64_t end;
} cache[SETS][WAYS];
static uint32_t turns; /* whose place is taken */

struct segment {
	uint64_t first;
	uint64_t end;
};

static struct cached_segment *cache_set(uint64_t map_start)
{
	return cache[(map_start >> 12) * 0x9e3779b97f4a7c15u >> 59];
}

_Static_assert(SETS == 1u << (64 - 59), "cache_set() takes the hash's upper five bits");

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static bool slot_get(const struct cached_segment *slot, uint64_t map_start, uint64_t map_end,
		     uint64_t table, struct segment *segment)
{
	uint64_t version = __atomic_load_n(&slot->version, __ATOMIC_ACQUIRE);
	bool match = load(&slot->map_start) == map_start && load(&slot->map_end) == map_end &&
		     load(&slot->exception_table) == table;

	segment->first = load(&slot->first);
	segment->end = load(&slot->end);
	/* Pairs with the release fence in cache_put(): fields of a later version show its mark. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return match && !(version & 1) && load(&slot->version) == version;
}

static bool cache_get(uint64_t map_start, uint64_t map_end, uint64_t table, struct segment *segment)
{
	const struct cached_segment *set = cache_set(map_start);

	for (unsigned i = 0; i < WAYS; i++)
		if (slot_get(&set[i], map_start, map_end, table, segment))
			return true;
	return false;
}

/* A free place, or the next one in turn. */
static struct cached_segment *place_in(struct cached_segment *set)
{
	for (unsigned i = 0; i < WAYS; i++)
		if (!load(&set[i].version))
			return &set[i];
	return &set[__atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED) % WAYS];
}

static void cache_put(uint64_t map_start, uint64_t map_end, uint64_t table,
		      const struct segment *segment)
{
	struct cached_segment *slot = place_in(cache_set(map_start));
	uint64_t version = load(&slot->version);

	/* Another writer, perhaps the very thread we interrupted: leave it to that one. */
	if (version & 1 || !__atomic_compare_exchange_n(&slot->version, &version, version + 1, 0,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	store(&slot->map_start, map_start);
	store(&slot->map_end, map_end);
	store(&slot->exception_table, table);
	store(&slot->first, segment->first);
	store(&slot->end, segment->end);
	__atomic_store_n(&slot->version, version + 2, __ATOMIC_RELEASE);
}

static bool copy(void *to, uint64_t from, size_t length)
{
	ssize_t got = raw_read_memory(to, from, length);

	if (got == -EPERM || got == -ENOSYS) { /* a seccomp filter: trust the loader's mapping */
		memcpy(to, (const void *)from, length);
		return true;
	}
	return got == (ssize_t)length;
}

static bool is_our_format(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_phentsize == sizeof(Elf64_Phdr);
}

/*
 * The loadable segment that holds the table, from the ELF header at the start of the mapping. The
 * mapping as a whole won't do: it may have holes.
 */
static bool find_segment(const struct dl_find_object *found, struct segment *segment)
{
	uint64_t map_start = (uintptr_t)found->dlfo_map_start;
	uint64_t map_end = (uintptr_t)found->dlfo_map_end;
	uint64_t table = (uintptr_t)found->dlfo_eh_frame, bias = 0;
	Elf64_Phdr some[HEADERS];
	Elf64_Ehdr header;
	bool biased = false;

	if (!copy(&header, map_start, sizeof(header)) || !is_our_format(&header))
		return false;
	for (unsigned i = 0; i < header.e_phnum && i < SEGMENT_LIMIT; i++) {
		const Elf64_Phdr *program = &some[i % HEADERS];
		unsigned left = header.e_phnum - i;

		if (i % HEADERS == 0 && !copy(some, map_start + header.e_phoff + i * sizeof(*some),
					      (left < HEADERS ? left : HEADERS) * sizeof(*some)))
			return false;
		if (program->p_type != PT_LOAD)
			continue;
		if (!biased) /* loadable segments ascend: the first one is at map_start */
			bias = map_start - (program->p_vaddr & PAGE_MASK);
		biased = true;
		segment->first = bias + program->p_vaddr;
		segment->end = segment->first + program->p_filesz;
		if (table >= segment->first && table < segment->end)
			return segment->first >= map_start && segment->end <= map_end &&
			       program->p_flags & PF_R;
	}
	return false;
}

int object_find(uintptr_t pc, struct object *object)
{
	struct dl_find_object found;
	struct segment segment;
	uint64_t start, end, table;

	if (_dl_find_object((void *)pc, &found) || !found.dlfo_eh_frame)
		return -ENOENT;
	start = (uintptr_t)found.dlfo_map_start;
	end = (uintptr_t)found.dlfo_map_end;
	table = (uintptr_t)found.dlfo_eh_frame;
	if (!cache_get(start, end, table, &segment)) {
		if (!find_segment(&found, &segment))
			return -ENOENT;
		cache_put(start, end, table, &segment);
	}
	object->section.start = (const uint8_t *)segment.first;
	object->section.length = segment.end - segment.first;
	object->section.address = segment.first;
	object->section.at = 0;
	object->section.failed = false;
	object->exception_table = table;
	return 0;
}
