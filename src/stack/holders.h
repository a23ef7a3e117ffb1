/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of memory that hold an address in a frame that is gone. They are looked for as a
 * conservative garbage collector does, whoever stored them, while the thread that has left the
 * frame is held. What is found only chooses what is watched: a word may be left over from earlier,
 * and never be loaded.
 */
#ifndef STACK_HOLDERS_H
#define STACK_HOLDERS_H

#include "process/space.h"

struct holder {
	uint64_t address; /* of the word */
	uint64_t pointer; /* the address that it holds */
	bool on_stack;	  /* in a frame of the thread itself, where words are often left over */
};

struct holders_search {
	struct space *space;
	pid_t pid;
	uint64_t start, end; /* of the frame that is gone */
	uint64_t stack;	     /* the thread's stack pointer */
	uint64_t chance;     /* any number: it chooses which part of a large mapping is looked at */
};

/* Writes what was found to `to`, `max` at most and those on the stack last, and returns how many.
 */
unsigned holders_find(const struct holders_search *search, struct holder *to, unsigned max);

#endif
