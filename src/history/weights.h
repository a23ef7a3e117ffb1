/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All numbers by which the next watch is chosen, each with its unit and reason. Some were tuned on
 * the programs of tests/behave/race; `make bench BENCHES=strategies` tells what each strategy is
 * worth on programs that did not suggest them.
 */
#ifndef HISTORY_WEIGHTS_H
#define HISTORY_WEIGHTS_H

#include "base/clock.h"

/* ---- sites: code in use (history/sites.h) -------------------------------------------------- */

#define SITES_MAX 256 /* remembered for each process, and for each background thread */
#define SITE_BYTES 64 /* code nearer to each other is one site */
#define SITE_DRAWS \
	8 /* a site where n watches were in vain is passed over n times of n + 1, so often */
/* Weight of a site that was never in vain; drawn sharply, it falls with the square of that. */
#define SITE_SHARPNESS (1ull << 20)

/* ---- contended sites: whose memory other threads come to (history/contended.h) --------------- */

#define CONTENDED_MAX 128
#define CONTENDED_DRAWS 8 /* of one to replace, until it is one that was only foreseen */
#define INTEREST_EQUAL 32 /* of an instruction that the tool has no opinion of */
/* Interest added for one whose memory changed under a thread that was held there, … */
#define INTEREST_CHANGED (3 * INTEREST_EQUAL)
#define CONTENDED_TRIES 4 /* … for this many tries for each change that was seen */
/* Of eight choices so many are of contended sites: what is promising comes before what is new when
 * there is little to spend. */
#define CONTENDED_PARTS 4
#define CONTENDED_PARTS_SCARCE 6

/* ---- foresight: who is about to come to which memory (history/foresight.h) --------------------
 */

#define FORESIGHT_WORDS 4096
/* ns: when two threads access a word this far apart, the later one may well do so because of the
 * earlier one, for example to what a program sets up before it creates a thread. */
#define FORESIGHT_AGE (2 * SECOND)
#define FORESIGHT_AGAIN (SECOND / 2) /* ns between two look-aheads from one pc of one thread */
#define FORETOLD_MAX 1024 /* pairs of pc and thread that were looked ahead from, remembered */
/* Interest added for a site of a foreseen conflict, … */
#define INTEREST_FORESEEN (3 * INTEREST_EQUAL)
#define FORESEEN_HOLDS 8 /* … halved after so many holds there */
/* A site that threads hit is worth this part of it while no thread was seen at what it conflicts
 * with. */
#define FORESEEN_UNSEEN_PARTS 8
/* ns of a thread's hold credit that only hits at foreseen sites may use, while there is something
 * foreseen. */
#define FORESEEN_RESERVE (5 * MILLISECOND)
/* Threads that seldom hit a foreseen site are waited for: its window doubles with each watch
 * without a hit, at most this many times. */
#define FORESEEN_DOUBLINGS 5
#define SAMPLES_FIRST (SECOND / 2) /* ns from the start in which nothing is foreseen */

/* ---- the sharing table (history/sharing.h) --------------------------------------------------- */

#define SHARING_LINES 4096
#define SHARING_LINE 64	 /* bytes */
#define SHARING_VISITS 4 /* visits of one thread alone after which a line is taken for its own */

/* ---- cooldown: addresses that cost too much (history/cooldown.h) ----------------------------- */

#define COOLDOWN_MAX 64

/* ---- periods: threads that come by at equal intervals (history/period.h) --------------------- */

#define PERIOD_ADDRESSES 8	 /* remembered for each process */
#define PERIODS 8		 /* threads of one address that are remembered */
#define PERIOD_VISIT MILLISECOND /* ns; accesses nearer to each other are one visit */
#define PERIOD_LEAST (20 * MILLISECOND)
#define PERIOD_MOST (4000 * MILLISECOND)
#define PERIOD_CONFIRMATIONS 2 /* a single one may be chance, since not every visit is seen */
#define PERIOD_PARTS 32	       /* two intervals differ by no more than this part of one … */
/* … and a thread may come this much before or after its time, ns. */
#define PERIOD_EARLY MILLISECOND
/* Intervals without a visit seen, after which nothing is foretold. */
#define PERIOD_MISSED_MOST 8
/* ns that an address at which two threads are periodic is watched, until they meet. */
#define COINCIDENCE_WINDOW (2 * SECOND)

/* ---- holds ------------------------------------------------------------------------------------
 */

/* ns; phases of short holds and of long ones alternate in a program that mostly sleeps: */
#define HOLD_PHASE (SECOND / 2)
#define HOLD_PHASES 4 /* of this many phases, holds are long in the last one */
#define HOLD_LONG (4 * MILLISECOND)
/* ns of a thread's hold credit that is not spent at data: half of what is wanted at code, … */
#define HOLD_RESERVE (MILLISECOND / 2)
/* … and more while two threads are about to coincide. */
#define COINCIDENCE_RESERVE (6 * MILLISECOND)
/* ns that a thread may be held at a time where it has saved up for that; no coincidence takes
 * longer, either. */
#define HOLD_LONGEST 8000000u

#endif
