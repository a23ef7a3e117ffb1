/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the code that ran was looked at, for the summary of a run: which pieces of code
 * samples and hits have shown to run, in which of them a thread hit a watch, and in which threads.
 *
 * A set is a table of bits by hash. Two members can share a bit: of 2,000 some 30 are lost, of
 * 10,000 some 700.
 */
#ifndef HISTORY_LOOKED_H
#define HISTORY_LOOKED_H

#include <stdint.h>
#include <sys/types.h>

#define LOOKED_BITS 65536

struct looked_set {
	uint64_t word[LOOKED_BITS / 64];
	unsigned members;
};

struct looked {
	struct looked_set ran;	   /* pieces of SITE_BYTES of code */
	struct looked_set reached; /* of these, those in which a thread hit a watch */
	struct looked_set threads;
};

/* Notes a sample at `pc`. */
void looked_ran(struct looked *looked, pid_t tid, uint64_t pc);
/* Notes that a thread hit a watch at `pc`. */
void looked_reached(struct looked *looked, pid_t tid, uint64_t pc);

#endif
