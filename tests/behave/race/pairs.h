/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers that sleep and wake all the time, in pairs that send each other a request and its answer
 * over pipes.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "harness.h"

#define PAIRS_MAX 8

static int pipes[2 * PAIRS_MAX][2];

/* One request, or answer, taken by a worker and one sent to its partner. */
static inline void answer_partner(intptr_t worker)
{
	char octet = 0;

	if (read(pipes[worker][0], &octet, 1) != 1 || write(pipes[worker ^ 1][1], &octet, 1) != 1)
		__atomic_store_n(&harness_stop, 1, __ATOMIC_RELAXED);
}

/* At the end: the partner may wait. */
static inline void leave_partner(intptr_t worker)
{
	close(pipes[worker ^ 1][1]);
}

/* As many as there are threads for, in pairs; 0: no pipe. */
static inline int open_pairs(int threads)
{
	int workers = threads < 2 * PAIRS_MAX ? threads & ~1 : 2 * PAIRS_MAX;

	for (int i = 0; i < workers; i++)
		if (pipe(pipes[i]))
			return 0;
	for (int i = 0; i < workers; i += 2)
		if (write(pipes[i][1], "r", 1) != 1)
			return 0;
	return workers;
}

#endif
