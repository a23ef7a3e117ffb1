/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways of choosing what to watch and how long to hold threads, by name. A watch carries the
 * heuristic that led to it to the pair and the finding; each can be switched off, so that its worth
 * can be measured. Pure data.
 */
#ifndef EXPLORE_HEURISTIC_H
#define EXPLORE_HEURISTIC_H

#include <stdbool.h>
#include <stdint.h>

/* The first ones lead to watches. */
enum heuristic {
	HEURISTIC_NONE,
	HEURISTIC_SAMPLE,     /* an address that a clock sample was about to access */
	HEURISTIC_CODE,	      /* an instruction of code in use */
	HEURISTIC_CONTENDED,  /* an instruction whose memory another thread came to */
	HEURISTIC_PROBE,      /* one whose memory changed while a thread was held before it */
	HEURISTIC_START,      /* where threads go on after waiting */
	HEURISTIC_BACKGROUND, /* code of a thread that seldom gets a CPU */
	HEURISTIC_ARGUMENT,   /* memory that a call out of the program's code is handed */
	HEURISTIC_COINCIDENCE,
	HEURISTIC_AIM,	     /* a place of a finding that is aimed at */
	HEURISTIC_FORESIGHT, /* an instruction that another's access was foreseen to conflict with
			      */
	HEURISTIC_TEAM,	     /* where threads that begin a function together will conflict */
	HEURISTIC_BIRTH,     /* the same of threads that are created, and of who created them */
	HEURISTIC_STALL_FIRST,
	/* These do not, and change how watches are made. */
	HEURISTIC_WIDENING,
	HEURISTIC_LONG_HOLDS,
	HEURISTIC_RESERVE,
	HEURISTIC_COOLDOWN,
	HEURISTICS,
};

/* The heuristics that can be switched off, in the order of the list; name NULL behind the last. */
struct heuristic_entry {
	const char *name;
	enum heuristic heuristic;
	const char *summary;
};

extern const struct heuristic_entry heuristic_table[];

const char *heuristic_name(enum heuristic heuristic); /* NULL: none */
/* HEURISTIC_NONE: there is no such name among those that can be switched off. */
enum heuristic heuristic_find(const char *name);

static inline bool heuristic_is_off(uint32_t without, enum heuristic heuristic)
{
	return without & 1u << heuristic;
}

#endif
