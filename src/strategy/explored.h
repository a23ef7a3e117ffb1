/* SPDX-License-Identifier: Apache-2.0 */
/* What all rooms of choosing keep of a process, made and freed. */
#ifndef STRATEGY_EXPLORED_H
#define STRATEGY_EXPLORED_H

#include "explore/explorer.h"

/* When the strategy's next turns are; CLOCK_MONOTONIC, ns: not before then … */
struct turns {
	uint64_t next_request; /* … is an address watched that a tool asked for, */
	uint64_t next_all;     /* code watched in all threads, */
	uint64_t next_look;    /* looked at the stacks of sleeping threads */
	unsigned looks;	       /* such looks so far */
};

int explored_open(struct target *target); /* 0, or -ENOMEM */
void explored_close(struct target *target);
/* Reads what the first looks will ask of the program's files while its first process still waits to
 * begin: the program may be over in milliseconds. Processes that it starts do not wait for that. */
void explored_prepare(const struct target *target);

#endif
