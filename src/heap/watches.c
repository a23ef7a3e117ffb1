/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes the slots watch. A block that is born, told because its context is new or rare, takes
 * the slot that was given out longest ago: an error about a block mostly comes soon, and what has
 * been quiet for longest is the least loss. What lies behind it is watched, and with a second slot
 * what lies before it; when it is freed, words of it in their place, unless it has pages of its
 * own, of which each touch is seen: then the touched word.
 */
#include "heap/private.h"

#include <string.h>
#include <time.h>

#define HOLD 100000000ull /* ns, at most, while hit() looks at the block */
#define HITS 8		  /* of one watch: a block that is misused again and again is told */

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

static struct heap_watch *find_oldest(struct heap *heap, pid_t pid)
{
	struct heap_watch *oldest = NULL;

	for (unsigned i = 0; i < HEAP_WATCHES; i++)
		if (heap->watch[i].cookie && heap->watch[i].pid == pid &&
		    (!oldest || heap->watch[i].since < oldest->since))
			oldest = &heap->watch[i];
	return oldest;
}

/* The most bytes from there on that one slot can watch. */
static unsigned length_at(uint64_t address, uint64_t room)
{
	unsigned length = 8;

	while (length > 1 && (address % length || length > room))
		length /= 2;
	return length;
}

static bool arm(struct heap *heap, const struct tl_guarded *block, uint64_t address,
		unsigned length, const char *strategy, uint64_t now)
{
	struct heap_watch *watch = find_free(heap);
	struct tl_watch wanted = {.size = sizeof(wanted),
				  .pid = block->pid,
				  .address = address,
				  .length = length,
				  .access = TL_READ | TL_WRITE,
				  .hits = HITS,
				  .hold = HOLD,
				  .cookie = ++heap->last_cookie,
				  /* A touched page is evidence, and nobody touches one often. */
				  .urgent = heap->all || strcmp(strategy, STRATEGY_PAGE) == 0};

	if (!watch || heap->services->arm(heap->host, &wanted)) {
		heap->services->count(heap->host, "heap-watches-refused", 1);
		return false;
	}
	*watch = (struct heap_watch){.cookie = wanted.cookie,
				     .pid = block->pid,
				     .serial = block->serial,
				     .block = block->address,
				     .address = address,
				     .since = now,
				     .strategy = strategy};
	heap->services->count(heap->host, "heap-watches", 1);
	return true;
}

/* False: nothing may make room. */
static bool make_room(struct heap *heap, pid_t pid)
{
	unsigned slots = heap->services->slots(heap->host, pid);
	struct heap_watch *oldest;

	if (count(heap, pid) < slots && find_free(heap))
		return true;
	oldest = find_oldest(heap, pid);
	if (!slots || !oldest)
		return false;
	watches_end(heap, oldest);
	return true;
}

/* The bytes behind it, up to the end of their word as far as there are slots to spare: where the
 * size is odd, one slot watches one byte. */
static bool watch_behind(struct heap *heap, const struct tl_guarded *block, unsigned most,
			 uint64_t now)
{
	uint64_t at = block->address + block->length;
	unsigned length;

	for (unsigned i = 0; i < most && at < block->back && (!i || at % 8); i++, at += length) {
		length = length_at(at, block->back - at);
		if (!make_room(heap, block->pid) ||
		    !arm(heap, block, at, length, STRATEGY_WATCH, now))
			return false;
	}
	return true;
}

void watches_birth(struct heap *heap, const struct tl_guarded_news *news)
{
	const struct tl_guarded *block = news->block;
	unsigned slots = heap->services->slots(heap->host, block->pid);

	/* On pages of its own there may be nothing between the block and the empty page. */
	if (heap->watches &&
	    (block->address + block->length >= block->back ||
	     watch_behind(heap, block, slots > 3 && !block->on_pages ? 2 : 1, news->from->time)) &&
	    slots > 1 && make_room(heap, block->pid))
		arm(heap, block, block->address - 8, 8, STRATEGY_WATCH, news->from->time);
}

bool watches_fault(struct heap *heap, const struct tl_guarded *block, uint64_t address)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return make_room(heap, block->pid) &&
	       arm(heap, block, address & ~7ull, 8, STRATEGY_PAGE,
		   (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec);
}

/* Its first word, and as many others, evenly spread, as leave one slot to the next birth. */
static void watch_freed(struct heap *heap, const struct tl_guarded *block, uint64_t now)
{
	uint64_t words = (block->length + 7) / 8;
	unsigned slots = heap->services->slots(heap->host, block->pid);
	unsigned wanted = slots > 1 ? slots - 1 : slots;

	if (wanted > words)
		wanted = (unsigned)words;
	for (unsigned i = 0; i < wanted && make_room(heap, block->pid); i++) {
		uint64_t offset = words * i / wanted * 8;

		arm(heap, block, block->address + offset,
		    length_at(block->address + offset, block->length - offset), STRATEGY_WATCH,
		    now);
	}
}

void watches_free(struct heap *heap, const struct tl_guarded_news *news)
{
	const struct tl_guarded *block = news->block;
	uint64_t now = news->from->time;

	for (unsigned i = 0; i < HEAP_WATCHES; i++)
		if (heap->watch[i].cookie && heap->watch[i].pid == block->pid &&
		    heap->watch[i].serial == block->serial)
			watches_end(heap, &heap->watch[i]);
	if (heap->watches && block->length && !block->on_pages)
		watch_freed(heap, block, now);
}
