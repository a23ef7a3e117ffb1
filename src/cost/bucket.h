/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token bucket: time earned at some share of what passes, kept up to a bound, and spent. Tokens
 * are ns of CPU time; below zero they are debt, until which is paid the holder does without.
 *
 * Everybody in the controller who spends has one: the budget (cost/budget.h), the controller's
 * answers (cost/pace.h), each lasting watch. What the program's own threads share is base/rate.h.
 */
#ifndef COST_BUCKET_H
#define COST_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	int64_t tokens; /* ns */
	int64_t most;	/* ns that are kept */
};

/* Adds what was earned and takes what was spent since the last time, ns; either may be negative,
 * when something is given back. */
void bucket_settle(struct bucket *bucket, int64_t earned, int64_t spent);

/* Adds ns that something else than time has earned; what is above the bound is lost at the next
 * bucket_settle(). */
void bucket_grant(struct bucket *bucket, uint64_t earned);

static inline bool bucket_is_empty(const struct bucket *bucket)
{
	return bucket->tokens < 0;
}

/* ns until the debt is paid, at `share` ns earned a ns; 0: there is none. */
uint64_t bucket_wait(const struct bucket *bucket, double share);

#endif
