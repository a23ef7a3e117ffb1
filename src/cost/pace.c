/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/pace.h"

#include "base/clock.h"

#define SHARE 0.25		/* of one CPU */
#define SAVED_MOST (SECOND / 2) /* ns of CPU time */
/* Debt beyond this is forgiven, so that nobody waits longer than this for one long piece of
 * work. */
#define DEBT_MOST (30 * MILLISECOND)
#define PROCESS_ALLOWANCE (MILLISECOND / 2) /* what watching a process and letting it go takes */
#define HIT_ALLOWANCE (1 * MILLISECOND)	    /* what telling of a hit, with its stack, may take */

void pace_begin(struct pace *pace, double percent)
{
	pace->share = SHARE + percent / 100 < 1 ? SHARE + percent / 100 : 1;
	pace->bucket.most = SAVED_MOST;
}

void pace_allow_process(struct pace *pace)
{
	bucket_grant(&pace->bucket, PROCESS_ALLOWANCE);
}

void pace_allow_hits(struct pace *pace, uint64_t hits)
{
	/* The kernel's count falls when slots are closed. */
	uint64_t more = hits > pace->hits ? hits - pace->hits : 0;

	if (more > SAVED_MOST / HIT_ALLOWANCE)
		more = SAVED_MOST / HIT_ALLOWANCE;
	bucket_grant(&pace->bucket, more * HIT_ALLOWANCE);
	pace->hits = hits;
}

bool pace_is_over(struct pace *pace, uint64_t now, uint64_t used)
{
	int64_t earned = (int64_t)SAVED_MOST, spent = 0;

	if (pace->looked) {
		earned = (int64_t)((double)(now - pace->looked) * pace->share);
		spent = (int64_t)(used - pace->used);
	}
	bucket_settle(&pace->bucket, earned, spent);
	pace->looked = now;
	pace->used = used;
	return bucket_is_empty(&pace->bucket);
}

uint64_t pace_pause(struct pace *pace)
{
	if (pace->bucket.tokens < -(int64_t)DEBT_MOST)
		pace->bucket.tokens = -(int64_t)DEBT_MOST;
	return bucket_wait(&pace->bucket, pace->share);
}
