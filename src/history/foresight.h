/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foresight: which thread is about to come to which memory, from where and under which locks, as
 * far as look-ahead tells (sample/ahead.h). Two threads that do so without a lock in common, one of
 * them to write, are worth a watch, whether or not they were ever seen there at the same time; no
 * thread has to be held to learn it.
 *
 * Pure arithmetic; one table for each process. Words that fall together in the table take each
 * other's place.
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
	pid_t tid; /* 0: nobody; below: a thread that is yet to be created, by a number of its own
		    */
	unsigned access; /* TL_READ | TL_WRITE, TL_ATOMIC */
	uint64_t time;	 /* ns; later it is no more than history */
};

struct foresight {
	struct foreseen_word {
		uint64_t number;		/* of the word: address / 8 */
		bool shared;			/* two were about to come there, and conflicted */
		struct foreseen reader, writer; /* the last ones */
	} word[FORESIGHT_WORDS];
};

/* Who is about to come to the word, too, and conflicts with it: two at most. How many are in
 * `others`. */
unsigned foresight_note(struct foresight *foresight, uint64_t address,
			const struct foreseen *access, struct foreseen others[static 2]);
/* What is known of the word: that there are conflicts, that one thread alone comes there, or
 * nothing. */
enum foresight_view { FORESIGHT_NOTHING, FORESIGHT_PRIVATE, FORESIGHT_SHARED };
enum foresight_view foresight_view(const struct foresight *foresight, uint64_t address);

#endif
