/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which hits of lasting watches leave the program, decided by the handler in the thread that made
 * them. What is refused there is counted there.
 *
 * Places: code whose hits the controller has understood once need not be sent again to be counted.
 * It teaches the handler such a place (by the pc of the trap and the slot), and the handler counts.
 */
#ifndef RECORD_FILTER_H
#define RECORD_FILTER_H

#include "record/condition.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILTER_GLOB 64	/* bytes of a glob of thread names, with the final zero */
#define FILTER_RANGES 8 /* of the code of a function */
#define FILTER_PLACES 256
#define FILTER_PROBES 8 /* places looked at for one pc */

/* The same for all processes, written before the first one starts. */
struct filter {
	uint32_t on;
	uint32_t count_only; /* no hit at a taught place is sent … */
	uint32_t refresh;    /* … but the next one after each time the controller asks */
	uint32_t callers;    /* a hit is refused by who called: its stack is needed */
	uint64_t not_before; /* CLOCK_MONOTONIC, ns */
	uint64_t every;	     /* one hit in so many is sent; 0: all */
	uint64_t first;	     /* at most so many are sent; 0: all */
	char thread[FILTER_GLOB];
	struct condition condition;
	/* Hits that passed, in all processes: a hit's number, from 1. */
	_Atomic uint64_t matched;
};

/* Why hits were refused, in the order the questions are asked. */
enum filter_refusal {
	FILTER_EARLY,
	FILTER_KIND, /* a write where reads are asked for, or the reverse */
	FILTER_THREAD,
	FILTER_VALUES,
	FILTER_CALLER,
	FILTER_REFUSALS
};

struct filter_range {
	uint64_t start, end;
};

/* `key` is written last and is 0 while the place is free; see filter_place_key(). */
struct filter_place {
	_Atomic uint64_t key;
	_Atomic uint64_t count;
	_Atomic uint32_t sent; /* since the controller last asked for a hit of it */
	uint32_t padding;
};

/* Of one process. */
struct filter_process {
	/* A hit with a caller in one of these is refused. Zero: no range. */
	struct filter_range caller[FILTER_RANGES];
	_Atomic uint64_t refused[FILTER_REFUSALS];
	struct filter_place place[FILTER_PLACES];
};

/* pc < 2^57 (five-level paging); never 0 for a taught place. `unwanted`: its hits are refused as
 * FILTER_KIND. */
#define FILTER_UNWANTED (1ull << 63)
static inline uint64_t filter_place_key(uint64_t pc, unsigned slot, bool unwanted)
{
	return (pc & ((1ull << 57) - 1)) | (uint64_t)(slot & 3) << 57 | 1ull << 60 |
	       (unwanted ? FILTER_UNWANTED : 0);
}

/* The place taught for this pc and slot, or NULL. Async-signal-safe. */
struct filter_place *filter_place_find(struct filter_process *process, uint64_t pc, unsigned slot);

/* The controller's: teach a place. Its index, -EEXIST, or -ENOSPC. */
int filter_place_teach(struct filter_process *process, uint64_t pc, unsigned slot, bool unwanted);

/* Is hit number `number`, from 1, one to be sent? */
static inline bool filter_chooses(const struct filter *filter, uint64_t number)
{
	/* Read once: another process may write zero between a comparison and a division. */
	uint64_t every = __atomic_load_n(&filter->every, __ATOMIC_RELAXED);
	uint64_t first = __atomic_load_n(&filter->first, __ATOMIC_RELAXED);
	uint64_t sent = every ? (number - 1) / every : number - 1;

	return (!every || (number - 1) % every == 0) && (!first || sent < first);
}

#endif
