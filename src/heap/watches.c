/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes the slots watch. What lies behind a block that is born, told because its context is
 * new or rare, is watched, and with a second slot what lies before it; when it is freed, words of
 * it in their place, unless it has pages of its own, of which each touch is seen: then the touched
 * word. Where an error was seen about another block of the context, the bytes that it was about are
 * watched alone.
 * Where every block is guarded, slots that are left watch the rest of what carries a pattern.
 * When no slot is free, a watch before another block makes room first, since few errors are there.
 * What watches where an error was seen before makes room for its like alone, as long as it is
 * fresh.
 */
#include "heap/watches.h"

#include "base/clock.h"
#include "base/random.h"
#include "heap/remember.h"
#include "heap/say.h"
#include "heap/state.h"

#include <string.h>

#define HOLD 100000000ull    /* ns, at most, while hit() looks at the block */
#define HITS 8		     /* of one watch: a block that is misused again and again is told */
#define FRESH 10000000000ull /* ns in which evidence outweighs everything else */
/* Spare slots are given to one birth in so many ns, and to some more that come at once: to arm them
 * takes as long as the others, and where births follow each other closely the next one would have
 * them at once. */
#define SPARED_EACH 1000000ull
#define SPARED_AT_ONCE 64u

struct heap_watch *watches_find(struct heap *heap, uint64_t cookie)
{
	for (unsigned i = 0; i < HEAP_WATCHES; i++)
		if (cookie && heap->watch[i].cookie == cookie)
			return &heap->watch[i];
	return NULL;
}

void watches_end(struct heap *heap, struct heap_watch *watch)
{
	heap->services->disarm(heap->host, watch->cookie);
	watch->cookie = 0;
}

void watches_end_process(struct heap *heap, pid_t pid)
{
	for (unsigned i = 0; i < HEAP_WATCHES; i++)
		if (heap->watch[i].cookie && heap->watch[i].pid == pid)
			watches_end(heap, &heap->watch[i]);
}

static unsigned count(const struct heap *heap, pid_t pid)
{
	unsigned used = 0;

	for (unsigned i = 0; i < HEAP_WATCHES; i++)
		used += heap->watch[i].cookie && heap->watch[i].pid == pid;
	return used;
}

static struct heap_watch *find_free(struct heap *heap)
{
	for (unsigned i = 0; i < HEAP_WATCHES; i++)
		if (!heap->watch[i].cookie)
			return &heap->watch[i];
	return NULL;
}

/* What is long quiet where an error was seen is like any other. */
static enum heap_rank rank_of(const struct heap_watch *watch, uint64_t now)
{
	if (watch->rank == HEAP_RANK_EVIDENCE && now > watch->since + FRESH)
		return HEAP_RANK_BLOCK;
	return watch->rank;
}

/* What a watch is for. */
struct purpose {
	const char *strategy;
	enum heap_rank rank;
	uint64_t now; /* ns */
	/* A thread that came to the page behind the block may have come through the bytes between,
	 * in a system call, of which the hit is delivered as that ends: what watches them stays,
	 * where anything else can make room. */
	bool keeps_behind;
};

/* Of the block's own watches, one that is worth less than what is to come in its place. */
static bool may_make_room(const struct heap_watch *watch, const struct tl_guarded *block,
			  const struct purpose *purpose)
{
	if (!watch->cookie || watch->pid != block->pid)
		return false;
	if (watch->serial != block->serial)
		return true;
	if (purpose->keeps_behind && watch->address >= block->address + block->length)
		return false;
	return rank_of(watch, purpose->now) < purpose->rank;
}

/* Of those that are worth least any one, so that each has its chance where there are many at a
 * time. */
static struct heap_watch *find_least(struct heap *heap, const struct tl_guarded *block,
				     const struct purpose *purpose)
{
	struct heap_watch *least = NULL;
	uint64_t now = purpose->now;
	unsigned alike = 0;

	for (unsigned i = 0; i < HEAP_WATCHES; i++) {
		struct heap_watch *watch = &heap->watch[i];

		if (!may_make_room(watch, block, purpose))
			continue;
		if (least && rank_of(watch, now) > rank_of(least, now))
			continue;
		alike = least && rank_of(watch, now) == rank_of(least, now) ? alike + 1 : 1;
		if (random_next(&heap->random) % alike == 0)
			least = watch;
	}
	return least;
}

/* The most bytes from there on that one slot can watch. */
static unsigned length_at(uint64_t address, uint64_t room)
{
	unsigned length = 8;

	while (length > 1 && (address % length || length > room))
		length /= 2;
	return length;
}

/* False: nothing may make room. */
static bool make_room(struct heap *heap, const struct tl_guarded *block,
		      const struct purpose *purpose)
{
	unsigned slots = heap->services->slots(heap->host, block->pid);
	struct heap_watch *least;

	if (count(heap, block->pid) < slots && find_free(heap))
		return true;
	least = slots ? find_least(heap, block, purpose) : NULL;
	if (least && purpose->rank == HEAP_RANK_SPARE && least->rank != HEAP_RANK_SPARE)
		return false;
	if (!least || (rank_of(least, purpose->now) == HEAP_RANK_EVIDENCE &&
		       purpose->rank != HEAP_RANK_EVIDENCE)) {
		heap->services->count(heap->host, "heap-watches-refused", 1);
		return false;
	}
	heap->services->count(heap->host, "heap-watches-displaced", 1);
	watches_end(heap, least);
	return true;
}

static bool arm(struct heap *heap, const struct tl_guarded *block, uint64_t address,
		unsigned length, const struct purpose *purpose)
{
	struct tl_watch wanted = {.size = sizeof(wanted),
				  .pid = block->pid,
				  .address = address,
				  .length = length,
				  .access = TL_READ | TL_WRITE,
				  .hits = HITS,
				  .hold = HOLD,
				  /* A touched page is evidence, and nobody touches one often. */
				  .urgent = heap->all ||
					    strcmp(purpose->strategy, STRATEGY_PAGE) == 0};
	struct heap_watch *watch;

	if (!make_room(heap, block, purpose))
		return false;
	watch = find_free(heap);
	wanted.cookie = ++heap->last_cookie;
	if (!watch || heap->services->arm(heap->host, &wanted)) {
		heap->services->count(heap->host, "heap-watches-refused", 1);
		return false;
	}
	*watch = (struct heap_watch){.cookie = wanted.cookie,
				     .pid = block->pid,
				     .serial = block->serial,
				     .block = block->address,
				     .address = address,
				     .length = length,
				     .since = purpose->now,
				     .rank = purpose->rank,
				     .strategy = purpose->strategy};
	heap->services->count(heap->host, "heap-watches", 1);
	return true;
}

/* The bytes behind it, up to the end of their word as far as there are slots to spare: where the
 * size is odd, one slot watches one byte. False: the first of them is not watched. */
static bool watch_behind(struct heap *heap, const struct tl_guarded *block, unsigned most,
			 const struct purpose *purpose)
{
	uint64_t at = block->address + block->length;
	unsigned length;

	for (unsigned i = 0; i < most && at < block->back && (!i || at % 8); i++, at += length) {
		length = length_at(at, block->back - at);
		if (!arm(heap, block, at, length, purpose))
			return i > 0;
	}
	return true;
}

static bool is_behind_page(const struct tl_guarded *block)
{
	return block->on_pages && block->address - block->front >= TL_GUARD_PAGE;
}

static bool has_spare(struct heap *heap, uint64_t now)
{
	uint64_t earliest = now - SPARED_AT_ONCE * SPARED_EACH;

	if (heap->spared < earliest)
		heap->spared = earliest;
	if (!heap->all || heap->spared + SPARED_EACH > now)
		return false;
	heap->spared += SPARED_EACH;
	return true;
}

static bool is_watched(const struct heap *heap, uint64_t serial, uint64_t address)
{
	for (unsigned i = 0; i < HEAP_WATCHES; i++)
		if (heap->watch[i].cookie && heap->watch[i].serial == serial &&
		    heap->watch[i].address == address)
			return true;
	return false;
}

/* The rest of what lies behind it, and the other words before, those that are near first. */
static void watch_rest(struct heap *heap, const struct tl_guarded *block, struct purpose *purpose)
{
	uint64_t at = block->address + block->length;
	unsigned length;

	if (!has_spare(heap, purpose->now))
		return;
	purpose->rank = HEAP_RANK_SPARE;
	for (; at < block->back; at += length) {
		length = length_at(at, block->back - at);
		if (!is_watched(heap, block->serial, at) && !arm(heap, block, at, length, purpose))
			return;
	}
	if (is_behind_page(block))
		return;
	for (at = block->address - 16; at >= block->front; at -= 8)
		if (!is_watched(heap, block->serial, at) && !arm(heap, block, at, 8, purpose))
			return;
}

/* Behind an empty page there is nothing to do: who touches that is seen. */
static bool watch_before(struct heap *heap, const struct tl_guarded *block,
			 const struct purpose *purpose)
{
	return is_behind_page(block) || arm(heap, block, block->address - 8, 8, purpose);
}

void watches_birth(struct heap *heap, const struct tl_guarded_news *news)
{
	const struct tl_guarded *block = news->block;
	unsigned slots = heap->services->slots(heap->host, block->pid);
	unsigned evidence = remember_evidence(heap->remember, block);
	bool ends_on_page = block->on_pages && !is_behind_page(block);
	unsigned spare = slots > 3 && !ends_on_page ? 2 : 1;
	struct purpose purpose = {
		.strategy = STRATEGY_WATCH, .rank = HEAP_RANK_EVIDENCE, .now = news->from->time};

	if (!heap->watches)
		return;
	if (evidence & CONTEXTS_AFTER)
		watch_behind(heap, block, spare, &purpose);
	if (evidence & CONTEXTS_BEFORE)
		watch_before(heap, block, &purpose);
	if (evidence & (CONTEXTS_AFTER | CONTEXTS_BEFORE))
		return;
	purpose.rank = HEAP_RANK_BLOCK;
	if (!watch_behind(heap, block, spare, &purpose) || slots < 2)
		return;
	purpose.rank = HEAP_RANK_BEFORE;
	if (watch_before(heap, block, &purpose))
		watch_rest(heap, block, &purpose);
}

bool watches_fault(struct heap *heap, const struct tl_guarded *block,
		   const struct pages_fault *fault)
{
	struct purpose purpose = {.strategy = STRATEGY_PAGE,
				  .rank = HEAP_RANK_EVIDENCE,
				  .now = clock_now(),
				  .keeps_behind = !block->freed};
	uint64_t word = fault->address & ~7ull;
	struct heap_watch *watch;

	if (!heap->watches)
		return false;
	if (!arm(heap, block, word, 8, &purpose)) {
		purpose.keeps_behind = false;
		if (block->freed || !arm(heap, block, word, 8, &purpose))
			return false;
	}
	watch = watches_find(heap, heap->last_cookie);
	if (watch) {
		watch->touched = fault->address;
		watch->toucher = fault->tid;
	}
	return true;
}

/* Its first word, and as many others, evenly spread, as leave one slot to the next birth. */
static void watch_freed(struct heap *heap, const struct tl_guarded *block,
			const struct purpose *purpose)
{
	uint64_t words = (block->length + 7) / 8;
	unsigned slots = heap->services->slots(heap->host, block->pid);
	unsigned wanted = slots > 1 ? slots - 1 : slots;

	if (wanted > words)
		wanted = (unsigned)words;
	for (unsigned i = 0; i < wanted; i++) {
		uint64_t offset = words * i / wanted * 8;

		if (!arm(heap, block, block->address + offset,
			 length_at(block->address + offset, block->length - offset), purpose))
			return;
	}
}

void watches_free(struct heap *heap, const struct tl_guarded_news *news)
{
	const struct tl_guarded *block = news->block;
	struct purpose purpose = {
		.strategy = STRATEGY_WATCH, .rank = HEAP_RANK_BLOCK, .now = news->from->time};

	for (unsigned i = 0; i < HEAP_WATCHES; i++)
		if (heap->watch[i].cookie && heap->watch[i].pid == block->pid &&
		    heap->watch[i].serial == block->serial)
			watches_end(heap, &heap->watch[i]);
	if (!heap->watches || !block->length || block->on_pages)
		return;
	if (remember_evidence(heap->remember, block) & CONTEXTS_FREED)
		purpose.rank = HEAP_RANK_EVIDENCE;
	watch_freed(heap, block, &purpose);
}
