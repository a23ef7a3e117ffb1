/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks on pages of their own. They lie in address space whose faults the controller sees by
 * userfaultfd(2), so that nobody touches an empty page there without its knowing. A run is the
 * pages of one block and one more, which stays empty:
 *
 *	| ... pattern | block | pattern to the page's end || empty |
 *
 * The block stands at the end, so what runs over it meets the empty page at the latest. Some stand
 * at the start, behind a first page that is empty, too:
 *
 *	| empty || block | pattern ... || empty |
 *
 * When a block is freed its pages are emptied: they cost no memory until the run is another
 * block's.
 *
 * The program holds no descriptor for it: it is open while the process waits to be let go, and the
 * controller takes a copy. Where that did not happen, as in one that goes on at once (struct
 * area_waits), there are no runs.
 */
#ifndef GUARD_PAGES_H
#define GUARD_PAGES_H

#include "record/guard.h"

#include <stdbool.h>
#include <stddef.h>

struct area_process;

/* To be called before the process is announced and when it was let go; in a forked child, too,
 * which has copies of its parent's pages but its own faults. */
void pages_begin(struct area_process *process, bool waits);
void pages_begun(struct area_process *process);

/* The program limits or locks its memory: runs that no block has go back to the kernel at once,
 * others when their block is given back. There are no new runs from then on, nor in forked
 * children. True: there were runs until now. Async-signal-safe. */
bool pages_forgo(void);

/* Is any of that in the piece of address space? */
bool pages_include(uint64_t from, uint64_t length);

/* The place of the block whose run the address lies in; GUARD_NOWHERE: none. */
uint32_t pages_owner(uint64_t address);

/* Takes a run for `room` bytes, which are the block and what is in front of it; its pages hold
 * zeroes. `*pages`: how many these are, without the empty one. 0: there is no run. */
uint64_t pages_take(size_t room, uint32_t *pages);
/* Notes at which place in the table the run's block is. */
void pages_own(uint64_t run, uint32_t pages, uint32_t place);
/* Empties the first page of the run. */
void pages_shut(uint64_t run);
/* The block is freed: empties its pages, so that whoever touches them is seen. */
void pages_empty(uint64_t run, uint32_t pages);
void pages_give_back(uint64_t run, uint32_t pages);

#endif
