/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of the program that live on when the first one has ended. */
#ifndef ARRIVAL_LINGER_H
#define ARRIVAL_LINGER_H

#include "program/program.h"

struct linger {
	uint64_t alone_since; /* ns since when no process is watched; 0: some process is */
};

/* The number of processes that are watched when the first one has ended. */
unsigned linger_others(struct program *program);

/* Has the last process ended, and no child of it is on its way? */
bool linger_is_over(struct linger *linger, struct program *program);

#endif
