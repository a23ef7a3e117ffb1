/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token bucket: time is earned at some share of what passes, kept up to a bound, and spent.
 * Tokens are ns of CPU time; below zero they are debt, and whoever spends from the bucket waits
 * until it is paid.
 *
 * Each part of the controller that spends has one: the budget (cost/budget.h), the controller's
 * answers (cost/pace.h), each lasting watch. What the program's own threads share is base/rate.h.
 */
#ifndef COST_BUCKET_H
#define COST_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	int64_t tokens; /* ns */
	int64_t most;	/* ns that are kept at most */
};

/* Adds what was earned and takes what was spent since the last time, ns; either may be negative,
 * when something is given back. */
void bucket_settle(struct bucket *bucket, int64_t earned, int64_t spent);

/* Adds ns earned by something other than time; bucket_settle() takes away what exceeds the
 * bound. */
void bucket_grant(struct bucket *bucket, uint64_t earned);

static inline bool bucket_is_empty(const struct bucket *bucket)
{
	return bucket->tokens < 0;
}

/* ns until the debt is paid, when `share` ns are earned in each ns; 0: there is no debt. */
uint64_t bucket_wait(const struct bucket *bucket, double share);

#endif
