/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that still has addresses in a frame that is gone: looked for by its words, as conservative
 * garbage collectors do, whoever stored them. The program's own thread has to be held meanwhile.
 * What is found only chooses what is watched: a word may be left over, and nobody may load it.
 */
#ifndef STACK_HOLDERS_H
#define STACK_HOLDERS_H

#include "process/space.h"

struct holder {
	uint64_t address; /* of the word */
	uint64_t pointer; /* what it has */
	bool on_stack;	  /* in a frame of the thread itself, where words are often left over */
};

struct holders_search {
	struct space *space;
	pid_t pid;
	uint64_t start, end; /* of the memory that is gone */
	uint64_t stack;	     /* the thread's stack pointer */
	uint64_t chance;     /* any number: which part of a large memory is looked at */
};

/* How many were found, at most `max`; those on the stack come last. */
unsigned holders_find(const struct holders_search *search, struct holder *to, unsigned max);

#endif
