/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers by which it is chosen what to watch next, all of them, each with its unit and reason.
 * Some were tuned on the programs of tests/behave/race; `make bench BENCHES=strategies` tells what
 * each strategy is worth on programs that did not suggest them.
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
#define INTEREST_EQUAL 32 /* of an instruction that nobody has an opinion of */
/* More for one whose memory changed under a thread that was held there, … */
#define INTEREST_CHANGED (3 * INTEREST_EQUAL)
#define CONTENDED_TRIES 4 /* … for so many tries for each change that was seen */
/* Of eight choices so many are of contended sites: what is promising comes before what is new when
 * there is little to spend. */
#define CONTENDED_PARTS 4
#define CONTENDED_PARTS_SCARCE 6

/* ---- foresight: who is about to come to which memory (history/foresight.h) --------------------
 */

#define FORESIGHT_WORDS 4096
/* A thread that does something after another did it longer ago may well do so because of it, as
 * what a program sets up before it creates a thread. */
#define FORESIGHT_AGE (2 * SECOND)
#define FORESIGHT_AGAIN (SECOND / 2) /* between two looks from one place by one thread */
#define FORETOLD_MAX 1024 /* places and threads that were looked ahead from, remembered */
/* More interest for a site of a conflict that was foreseen, … */
#define INTEREST_FORESEEN (3 * INTEREST_EQUAL)
#define FORESEEN_HOLDS 8 /* … halved after so many holds there */
/* A site where threads come by is worth this part of it while nobody was seen at what it conflicts
 * with. */
#define FORESEEN_UNSEEN_PARTS 8
/* Nobody who comes by what was not foreseen is held for what a thread has saved up to here, while
 * there is something foreseen: ns. */
#define FORESEEN_RESERVE (5 * MILLISECOND)
/* Who seldom comes by a foreseen site is waited for: its window doubles each time nobody did, at
 * most so often. */
#define FORESEEN_DOUBLINGS 5
#define SAMPLES_FIRST (SECOND / 2) /* from the start on, nothing is foreseen */

/* ---- the sharing table (history/sharing.h) --------------------------------------------------- */

#define SHARING_LINES 4096
#define SHARING_LINE 64	 /* bytes */
#define SHARING_VISITS 4 /* of one thread alone, after which a line is taken for its own */

/* ---- cooldown: addresses that cost too much (history/cooldown.h) ----------------------------- */

#define COOLDOWN_MAX 64

/* ---- periods: threads that come by at equal intervals (history/period.h) --------------------- */

#define PERIOD_ADDRESSES 8	 /* remembered for each process */
#define PERIODS 8		 /* threads, of an address */
#define PERIOD_VISIT MILLISECOND /* accesses nearer to each other are one visit */
#define PERIOD_LEAST (20 * MILLISECOND)
#define PERIOD_MOST (4000 * MILLISECOND)
#define PERIOD_CONFIRMATIONS 2	 /* once, it may be chance: not every visit is seen */
#define PERIOD_PARTS 32		 /* two intervals differ by no more than this part of one … */
#define PERIOD_EARLY MILLISECOND /* … and by so much a thread comes before and after its time */
#define PERIOD_MISSED_MOST 8	 /* intervals not seen, after which nothing is foretold */
/* An address where two threads are periodic is watched for so long, until they meet. */
#define COINCIDENCE_WINDOW (2 * SECOND)

/* ---- holds ------------------------------------------------------------------------------------
 */

/* Phases of short holds and of long ones alternate in a program that mostly sleeps: */
#define HOLD_PHASE (SECOND / 2)
#define HOLD_PHASES 4 /* of these, in the last holds are long */
#define HOLD_LONG (4 * MILLISECOND)
/* Of a thread's savings, not spent at data: half of what is wanted at code, … */
#define HOLD_RESERVE (MILLISECOND / 2)
/* … and more while two threads are about to coincide. */
#define COINCIDENCE_RESERVE (6 * MILLISECOND)
/* ns; what a thread may be held at a time where it saved up for that: no coincidence takes longer
 * either. */
#define HOLD_LONGEST 8000000u

#endif
