/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/budget.h"

#include "base/clock.h"

#define IDLE_SHARE 4 /* a sleeping program counts as using 1/4 of a CPU */
/* What the budget allows in so many seconds of the program's CPU time: */
#define START_SECONDS 50.0
#define START_SECONDS_AGGRESSIVE 2.0 /* a short run takes no more than twice the time */
#define MOST_SECONDS 100.0
/* A program that uses less than a tenth of one CPU counts as one that mostly waits. */
#define SLEEPY_PARTS 10
#define PAUSE_MOST SECOND
/* Lowest income, as a share of a second, that a pause is computed from. */
#define INCOME_LEAST 1e-4
#define SCARCE (SECOND / 8)
/* ns of CPU time by which a thread, and a process, takes longer to begin and to end when it
 * inherits events and announces itself. Measured with bare and watched programs in turn, 1,000
 * threads and 1,200 processes each, on Linux 6.18 in a virtual machine. */
#define PRICE_THREAD 25000u
#define PRICE_PROCESS 200000u

static uint64_t advance(uint64_t *seen, uint64_t now)
{
	uint64_t more = now > *seen ? now - *seen : 0;

	*seen = now;
	return more;
}

void budget_add(struct budget *budget, struct spending *seen, const struct spending *used)
{
	struct spending *sum = &budget->sum;

	if (used->program > seen->program)
		sum->program += advance(&seen->program, used->program);
	sum->hits += advance(&seen->hits, used->hits);
	sum->handling += advance(&seen->handling, used->handling);
	sum->held += advance(&seen->held, used->held);
	sum->queued += advance(&seen->queued, used->queued);
	sum->births += advance(&seen->births, used->births);
	sum->processes += advance(&seen->processes, used->processes);
}

uint64_t budget_births(const struct budget *budget)
{
	return budget->sum.births * PRICE_THREAD + budget->sum.processes * PRICE_PROCESS;
}

/* What the budget is charged for. */
static uint64_t charged(const struct budget *budget)
{
	const struct spending *sum = &budget->sum;

	return sum->handling + sum->hits * budget->prices.hit + sum->samples + sum->wakeups +
	       sum->interrupts;
}

/* What was taken of the program's own threads, ns of CPU time. */
static uint64_t budget_inside(const struct budget *budget)
{
	return charged(budget) + budget->sum.idle + budget_births(budget);
}

uint64_t budget_outside(const struct budget *budget, uint64_t own)
{
	return own > budget->exempt ? own - budget->exempt : 0;
}

double budget_cost(const struct budget *budget, uint64_t own)
{
	uint64_t inside = budget_inside(budget);
	uint64_t bare = budget->sum.program > inside ? budget->sum.program - inside : 0;

	return bare ? 100.0 * (double)(inside + budget_outside(budget, own)) / (double)bare : 0;
}

static int64_t allowed_in(const struct budget *budget, double seconds)
{
	return (int64_t)(budget->percent / 100 * seconds * SECOND);
}

void budget_start(struct budget *budget, const struct budget_terms *terms, uint64_t own,
		  uint64_t now)
{
	int64_t lent;

	budget->percent = terms->percent;
	if (terms->loan >= 0)
		lent = (int64_t)(terms->loan * SECOND);
	else
		lent = allowed_in(budget,
				  terms->aggressive ? START_SECONDS_AGGRESSIVE : START_SECONDS);
	budget->bucket.tokens = lent;
	budget->bucket.most = allowed_in(budget, MOST_SECONDS);
	if (budget->bucket.most < lent)
		budget->bucket.most = lent;
	/* The loan for switches of threads and for interrupts is as large again: memcached with
	 * four threads costs 280 ms of those in its first 15 s, before anything is found. */
	budget->loan = terms->aggressive ? 0 : (uint64_t)lent;
	budget->loan_kept = budget->loan / 5 * 3;
	budget->spent = charged(budget) + budget_outside(budget, own);
	budget->program_before = budget->sum.program;
	budget->settled_at = now;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* At the start a part of what wake-ups and interrupts cost is not charged: in a server that
 * sleeps and wakes all the time, or has a thousand threads, the bucket would otherwise be empty
 * after seconds, before anything was seen. Returns the ns that are lent. */
static uint64_t lend(struct budget *budget, const struct budget_estimate *estimate)
{
	uint64_t wanted = estimate->wakeups > 0 ? (uint64_t)estimate->wakeups : 0, lent;

	wanted += estimate->interrupts - budget->sum.interrupts;
	lent = least(wanted, budget->loan);
	budget->loan -= lent;
	if (estimate->lend_samples && budget->loan > budget->loan_kept) {
		uint64_t samples = least(estimate->samples, budget->loan - budget->loan_kept);

		budget->loan -= samples;
		lent += samples;
	}
	return lent;
}

static void pause_arming(struct budget *budget, uint64_t now)
{
	double rate = budget->income / (double)SECOND + INCOME_LEAST;
	uint64_t pause = bucket_wait(&budget->bucket, rate);

	/* The program itself reports what its handlers took, and could report anything, so the
	 * pause is bounded. */
	budget->paused_until = now + (pause < PAUSE_MOST ? pause : PAUSE_MOST);
}

bool budget_settle(struct budget *budget, const struct budget_estimate *estimate, uint64_t own,
		   uint64_t now)
{
	uint64_t passed = now - budget->settled_at, idle = passed / IDLE_SHARE;
	uint64_t used = budget->sum.program - budget->program_before, lent, spent;
	double earned;

	lent = lend(budget, estimate);
	budget->sum.wakeups += (uint64_t)estimate->wakeups;
	budget->sum.samples += estimate->samples;
	budget->sum.idle += estimate->idle;
	budget->sum.interrupts = estimate->interrupts;
	spent = charged(budget) + budget_outside(budget, own);
	budget->sleepy = used * SLEEPY_PARTS < passed;
	earned = (double)(used > idle ? used : idle) * budget->percent / 100;
	bucket_settle(&budget->bucket, (int64_t)earned, (int64_t)(spent - budget->spent - lent));
	budget->income = earned * (double)SECOND / (double)(passed + 1);
	budget->spent = spent;
	budget->program_before = budget->sum.program;
	budget->settled_at = now;
	if (!bucket_is_empty(&budget->bucket))
		return false;
	pause_arming(budget, now);
	return true;
}

bool budget_is_scarce(const struct budget *budget)
{
	return budget->bucket.tokens < (int64_t)SCARCE;
}

unsigned budget_spent(const struct budget *budget, uint64_t now)
{
	const struct bucket *bucket = &budget->bucket;

	if (now < budget->paused_until || bucket_is_empty(bucket))
		return 200;
	if (bucket->tokens >= bucket->most)
		return 0;
	return (unsigned)(100 - 100 * (double)bucket->tokens / (double)bucket->most);
}
