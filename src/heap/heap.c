/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector of heap errors. The program guards some of its blocks (src/guard) and tells what it
 * sees itself: wrong calls of free(), broken patterns, births and deaths. Here the slots are given
 * to the bytes around them, what is accessed is looked up among them, and all of it is told.
 */
#include "heap/heap.h"

#include "base/clock.h"
#include "heap/counts.h"
#include "heap/judge.h"
#include "heap/outside.h"
#include "heap/pages.h"
#include "heap/place.h"
#include "heap/remember.h"
#include "heap/say.h"
#include "heap/state.h"
#include "heap/touch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEMORY_USUAL 32u /* MiB */
#define MEMORY_MOST (1u << 20)
#define MIB (1024.0 * 1024.0)
#define SAMPLE_PAUSE 1000000ull /* ns between two samples that are looked up */

static void on_hit(void *state, const struct tl_access *seen)
{
	struct heap *heap = state;
	struct tl_access placed = *seen;
	const struct tl_access *access = &placed;
	struct heap_watch *watch = watches_find(heap, seen->cookie);
	struct tl_guarded block;
	struct heap_verdict verdict;

	if (!watch) {
		outside_hit(heap, seen);
		return;
	}
	place_access(heap, watch, &placed);
	if (!heap->services->guarded(heap->host, watch->pid, watch->block, &block) ||
	    block.serial != watch->serial) {
		/* Its memory is the allocator's again. */
		heap->services->count(heap->host, "heap-watches-late", 1);
		watches_end(heap, watch);
		return;
	}
	place_call(heap, &block, &placed);
	verdict = heap_judge_access(heap, &block, access, false);
	if (verdict.kind != HEAP_NO_ERROR)
		say_access(heap, &block, access, &verdict, watch->strategy);
}

/* It costs a look into the program's memory, and most samples are of no guarded block. */
static void on_sample(void *state, const struct tl_access *access)
{
	struct heap *heap = state;
	struct heap_verdict verdict;
	struct tl_guarded block;

	/* What the thread may come to, it may as well not. */
	if (!heap->samples || heap->outside || access->time < heap->sampled_until ||
	    !access->address || access->traits & TL_TRAIT_FORESEEN)
		return;
	heap->sampled_until = access->time + SAMPLE_PAUSE;
	if (!heap->services->guarded(heap->host, access->pid, access->address, &block))
		return;
	/* A sample tells what is about to be accessed, if nothing decides otherwise before that; a
	 * page that is really touched tells so by itself. */
	if (block.on_pages)
		return;
	heap->services->count(heap->host, "heap-samples", 1);
	verdict = heap_judge_access(heap, &block, access, true);
	if (verdict.kind != HEAP_NO_ERROR)
		say_access(heap, &block, access, &verdict, STRATEGY_SAMPLE);
}

static void on_mismatch(struct heap *heap, const struct tl_guarded_news *news)
{
	const struct tl_guarded *block = news->block;
	enum heap_operators maker = HEAP_OPERATORS_HARDLY;
	struct heap_mismatch verdict;

	if (block->made.count)
		maker = operators_of(heap, block->pid, block->made.pcs[0]);
	verdict = heap_judge_mismatch(maker, operators_of(heap, block->pid, news->from->pc));
	if (verdict.rule)
		heap->services->count(heap->host, verdict.rule, 1);
	else if (news->length) /* by the right function: whose it is does not matter */
		say_call(heap, news, TL_DEFINITE, NULL);
	else
		say_call(heap, news, verdict.certainty, verdict.evidence);
}

static bool is_told(const struct heap *heap, uint64_t serial)
{
	for (unsigned i = 0; i < HEAP_TOLD; i++)
		if (heap->told[i] == serial)
			return true;
	return false;
}

static void on_block(void *state, const struct tl_guarded_news *news)
{
	struct heap *heap = state;

	switch (news->event) {
	case TL_GUARDED_BORN:
		watches_birth(heap, news);
		break;
	case TL_GUARDED_FREED:
		watches_free(heap, news);
		break;
	case TL_GUARDED_FREED_OTHERWISE:
		on_mismatch(heap, news);
		break;
	case TL_GUARDED_FREED_TWICE:
	case TL_GUARDED_FREED_INSIDE:
	case TL_GUARDED_FREED_NO_BLOCK:
		say_call(heap, news, TL_DEFINITE, NULL);
		break;
	default:
		if (is_told(heap, news->block->serial))
			heap->services->count(heap->host, "heap-broken-told", 1);
		else
			say_broken(heap, news);
	}
}

static void on_unwatched(void *state, const struct tl_watch *wanted, unsigned hits,
			 unsigned threads)
{
	struct heap_watch *watch = watches_find(state, wanted->cookie);

	(void)hits;
	(void)threads;
	if (watch)
		watch->cookie = 0;
	else
		outside_unwatched(state, wanted->cookie);
}

static void on_process_ended(void *state, pid_t pid)
{
	struct heap *heap = state;

	watches_end_process(heap, pid);
	outside_ended(heap, pid);
	remember_process_ended(heap->remember, pid);
	if (heap->pages)
		pages_drop(heap->pages, pid);
}

/* Called by the thread that takes the faults. */
static void wake(void *context)
{
	struct heap *heap = context;

	heap->services->wake(heap->host);
}

static void on_process_began(void *state, pid_t pid)
{
	struct tl_guard_faults faults = {.size = sizeof(faults)};
	struct heap *heap = state;

	remember_process_ended(heap->remember, pid);
	remember_process_began(heap->remember, pid);
	/* Executed, it has none of its earlier ones. */
	outside_ended(heap, pid);
	if (!heap->services->interposed(heap->host, pid)) {
		outside_began(heap, pid);
		return;
	}
	if (heap->pages)
		pages_drop(heap->pages, pid);
	if (!heap->on_pages || heap->services->guard_faults(heap->host, pid, &faults))
		return;
	if (!heap->pages)
		heap->pages = pages_start(faults.bell, wake, heap);
	if (heap->pages)
		pages_add(heap->pages, pid, &faults);
	else
		close(faults.descriptor);
}

static void on_tick(void *state)
{
	struct heap *heap = state;
	struct pages_fault fault;
	unsigned unseen;

	if (heap->pages)
		pages_go_on(heap->pages);
	unseen = heap->pages ? pages_unseen(heap->pages) : 0;
	remember_tick(heap->remember);
	outside_tick(heap);
	if (unseen)
		heap->services->count(heap->host, "heap-pages-unseen", unseen);
	while (heap->pages && pages_next(heap->pages, &fault))
		touch_look(heap, &fault);
}

static bool has_option(const struct heap *heap, const char *name)
{
	const char *value = heap->services->option(heap->host, name);

	return value && strcmp(value, "0") != 0;
}

/* Is the strategy on: alone by "strategy", and not among those of "without"? */
static bool wants(const struct heap *heap, const char *strategy)
{
	const char *only = heap->services->option(heap->host, "strategy");
	const char *without = heap->services->option(heap->host, "without");

	if (only && strcmp(only, "default") != 0 && !strstr(only, strategy))
		return false;
	return !without || !strstr(without, strategy);
}

static bool is_strategy(const char *name, size_t length)
{
	static const char *const names[] = {STRATEGY_WATCH, STRATEGY_SAMPLE, STRATEGY_PAGE,
					    "default"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && !memcmp(names[i], name, length))
			return true;
	return false;
}

/* Names, with commas between them. */
static bool are_strategies(const struct heap *heap, const char *option)
{
	const char *at = heap->services->option(heap->host, option);

	while (at && *at) {
		size_t length = strcspn(at, ",");

		if (!is_strategy(at, length)) {
			heap->services->log(heap->host,
					    "--%s '%.*s' is not one of watch, sample, page", option,
					    (int)length, at);
			return false;
		}
		at += length + (at[length] == ',');
	}
	return true;
}

static int choose(struct heap *heap)
{
	const char *text = heap->services->option(heap->host, "memory");
	const char *whole = heap->services->option(heap->host, "whole");
	char *end = NULL;
	double memory = text ? strtod(text, &end) : MEMORY_USUAL;
	struct tl_guarding guarding = {.size = sizeof(guarding), .all = has_option(heap, "all")};

	if (text && (end == text || *end || !(memory >= 1) || memory > MEMORY_MOST)) {
		heap->services->log(heap->host, "memory '%s' is not a number of MiB from 1 to %u",
				    text, MEMORY_MOST);
		return -EINVAL;
	}
	if (!are_strategies(heap, "strategy") || !are_strategies(heap, "without"))
		return -EINVAL;
	heap->watches = wants(heap, STRATEGY_WATCH);
	heap->samples = wants(heap, STRATEGY_SAMPLE);
	heap->all = guarding.all;
	heap->on_pages = wants(heap, STRATEGY_PAGE);
	guarding.births = heap->watches;
	guarding.pages = heap->on_pages;
	guarding.memory = (uint64_t)(memory * MIB);
	guarding.whole = whole ? (uint32_t)strtoul(whole, NULL, 10) : 0;
	heap->services->guard(heap->host, &guarding);
	return 0;
}

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct heap *heap = calloc(1, sizeof(*heap));
	int err;

	if (!heap)
		return -ENOMEM;
	heap->host = host;
	heap->services = services;
	heap->random.state = clock_now() | 1;
	*state = heap;
	err = remember_start(&heap->remember, host, services);
	return err ? err : choose(heap);
}

static void finish(void *state)
{
	struct heap *heap = state;

	remember_stop(heap->remember);
	outside_stop(heap);
	pages_stop(heap->pages);
	free(heap);
}

const struct tl_tool heap_tool = {
	.size = sizeof(heap_tool),
	.version = TL_TOOL_VERSION,
	.name = "heap",
	.summary = "find use after free, overflows and wrong frees of heap blocks",
	.start = start,
	.sample = on_sample,
	.hit = on_hit,
	.unwatched = on_unwatched,
	.exit = finish,
	.process_began = on_process_began,
	.process_ended = on_process_ended,
	.tick = on_tick,
	.slots = 4,
	.wants = TL_WANTS_GUARDS | TL_WANTS_OUTSIDE,
	.guarded = on_block,
	.counts = heap_counts,
};
