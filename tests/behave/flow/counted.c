/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exhaustive count of dead stores, silent stores and redundant loads, to measure `trapline flow
 * waste` by. The program is compiled with -fsanitize=thread and linked with this file in place of
 * ThreadSanitizer's own runtime: each load and store of its source calls here first.
 *
 * An access waits at its first byte for the next access that touches that byte. One thread.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define PAGES 4096u

enum waiting { NOBODY, STORE, LOAD };

struct page {
	uint64_t number;
	uint8_t waiting[PAGE];
	struct page *next;
};

static struct page *pages[PAGES];
static uint64_t stores, dead, silent, loads, redundant;
static const uint8_t *stored; /* the last store's place, which has happened by the next call */
static unsigned stored_length;
static uint8_t before[16];

static uint8_t *waiting_at(uint64_t address)
{
	static struct page *last;
	uint64_t number = address / PAGE;
	struct page *page = last;

	if (!page || page->number != number) {
		for (page = pages[number % PAGES]; page && page->number != number;
		     page = page->next)
			;
		if (!page) {
			page = calloc(1, sizeof(*page));
			page->number = number;
			page->next = pages[number % PAGES];
			pages[number % PAGES] = page;
		}
		last = page;
	}
	return &page->waiting[address % PAGE];
}

static void settle(void)
{
	if (stored && memcmp(stored, before, stored_length) == 0)
		silent++;
	stored = NULL;
}

static void access_is(const void *place, unsigned length, int store)
{
	uint64_t address = (uint64_t)place;

	settle();
	for (unsigned i = 0; i < length; i++) {
		uint8_t *waiting = waiting_at(address + i);

		dead += *waiting == STORE && store;
		redundant += *waiting == LOAD && !store;
		*waiting = NOBODY;
	}
	*waiting_at(address) = store ? STORE : LOAD;
	if (!store) {
		loads++;
		return;
	}
	stores++;
	stored = place;
	stored_length = length;
	memcpy(before, place, length);
}

#define HOOKS(size)                                     \
	void __tsan_read##size(void *place);            \
	void __tsan_read##size(void *place)             \
	{                                               \
		access_is(place, size, 0);              \
	}                                               \
	void __tsan_write##size(void *place);           \
	void __tsan_write##size(void *place)            \
	{                                               \
		access_is(place, size, 1);              \
	}                                               \
	void __tsan_unaligned_read##size(void *place);  \
	void __tsan_unaligned_read##size(void *place)   \
	{                                               \
		access_is(place, size, 0);              \
	}                                               \
	void __tsan_unaligned_write##size(void *place); \
	void __tsan_unaligned_write##size(void *place)  \
	{                                               \
		access_is(place, size, 1);              \
	}

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

static void print(void)
{
	settle();
	fprintf(stderr,
		"{\"dead-stores\": %.3f, \"silent-stores\": %.3f, \"redundant-loads\": %.3f}\n",
		stores ? 100.0 * (double)dead / (double)stores : 0,
		stores ? 100.0 * (double)silent / (double)stores : 0,
		loads ? 100.0 * (double)redundant / (double)loads : 0);
}

void __tsan_init(void);
void __tsan_init(void)
{
	static int begun;

	if (!begun++)
		atexit(print);
}

void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
	(void)pc;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}
