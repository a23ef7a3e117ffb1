/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks on pages of their own, in a piece of address space that the controller sees faults in
 * (userfaultfd(2)): a page that is empty cannot be touched without its knowing. A run is the pages
 * of one block and one more, which stays empty:
 *
 *	| ... pattern | block | pattern to the page's end || empty |
 *
 * The block stands at the end, so what runs over it meets the empty page at the latest. Some stand
 *at the start, behind a first page that is empty, too:
 *
 *	| empty || block | pattern ... || empty |
 *
 * When a block is freed its pages are emptied: they cost no memory until the run is another
 *block's.
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

/* Before the process is announced, and when it was let go. Of a forked child, too, which has the
 * pages of its parent and its faults for itself. */
void pages_begin(struct area_process *process, bool waits);
void pages_begun(struct area_process *process);

/* The program limits or locks its memory: what is nobody's goes back to the kernel, and what a
 * block has when it is given back; there are no more runs, in its forked children neither. True:
 * there were until now. Async-signal-safe. */
bool pages_forgo(void);

/* Is any of that in the piece of address space? */
bool pages_include(uint64_t from, uint64_t length);

/* The place of the block whose run the address lies in; GUARD_NOWHERE: none. */
uint32_t pages_owner(uint64_t address);

/* A run for so many bytes of a block and in front of it, filled with zeroes; its pages without the
 * empty one: 0: none. */
uint64_t pages_take(size_t room, uint32_t *pages);
/* Whose it is. */
void pages_own(uint64_t run, uint32_t pages, uint32_t place);
/* The first page of the run becomes empty. */
void pages_shut(uint64_t run);
/* The block is freed; what touches it is seen from here on. */
void pages_empty(uint64_t run, uint32_t pages);
void pages_give_back(uint64_t run, uint32_t pages);

#endif
