/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foresight: which thread is about to access which memory, from where and under which locks, as far
 * as look-ahead tells (sample/ahead.h). Two threads that do so without a lock in common, one of
 * them to write, are worth a watch, whether or not they were ever seen there at the same time; no
 * thread has to be held to learn it.
 *
 * Pure arithmetic; one table for each process. Words that share an entry of the table replace each
 * other.
 */
#ifndef HISTORY_FORESIGHT_H
#define HISTORY_FORESIGHT_H

#include "history/weights.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FORESIGHT_LOCKS 2

struct foreseen {
	uint64_t pc;
	uint64_t lock[FORESIGHT_LOCKS]; /* 0: none */
	/* 0: no thread; below 0: a thread that is yet to be created, by a number of its own. */
	pid_t tid;
	unsigned access; /* TL_READ | TL_WRITE, TL_ATOMIC */
	uint64_t time;	 /* ns; FORESIGHT_AGE later the entry is no longer used */
};

struct foresight {
	struct foreseen_word {
		uint64_t number; /* of the word: address / 8 */
		/* Two threads were about to access it, and conflicted. */
		bool shared;
		struct foreseen reader, writer; /* the last ones */
	} word[FORESIGHT_WORDS];
};

/* Notes an access that a thread is about to make, and finds the accesses of others that conflict
 * with it: two at most. Returns how many are in `others`. */
unsigned foresight_note(struct foresight *foresight, uint64_t address,
			const struct foreseen *access, struct foreseen others[static 2]);
/* What is known of the word: that there are conflicts, that one thread alone accesses it, or
 * nothing. */
enum foresight_view { FORESIGHT_NOTHING, FORESIGHT_PRIVATE, FORESIGHT_SHARED };
enum foresight_view foresight_view(const struct foresight *foresight, uint64_t address);

#endif
