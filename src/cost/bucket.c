/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/bucket.h"

/* The longest wait, ns: at a share of next to nothing a debt would take longer. */
#define LONGEST (3600 * 1e9)

void bucket_settle(struct bucket *bucket, int64_t earned, int64_t spent)
{
	bucket->tokens += earned - spent;
	if (bucket->tokens > bucket->most)
		bucket->tokens = bucket->most;
}

void bucket_grant(struct bucket *bucket, uint64_t earned)
{
	bucket->tokens += (int64_t)earned;
}

uint64_t bucket_wait(const struct bucket *bucket, double share)
{
	double wait;

	if (!bucket_is_empty(bucket))
		return 0;
	wait = -(double)bucket->tokens / share;
	return wait < LONGEST ? (uint64_t)wait : (uint64_t)LONGEST;
}
