/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates and frees what the rooms of choosing keep of a process. */
#ifndef STRATEGY_EXPLORED_H
#define STRATEGY_EXPLORED_H

#include "explore/explorer.h"

/* When the strategy's next turns are; CLOCK_MONOTONIC, ns. Not before then … */
struct turns {
	uint64_t next_request; /* … is an address watched that a tool asked for, … */
	uint64_t next_all;     /* … is code watched in all threads, … */
	uint64_t next_look;    /* … are stacks of sleeping threads looked at */
	unsigned looks;	       /* such looks so far */
};

int explored_open(struct target *target); /* 0, or -ENOMEM */
void explored_close(struct target *target);
/* Reads what the first looks at samples will need of the program's files, while its first process
 * still waits to begin: the program may be over in milliseconds. Processes that it starts do not
 * wait for that. */
void explored_prepare(const struct target *target);

#endif
