/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time is not counted in periods, since a late timer skips some: the kernel's CPU clock tells
 * what was really used since the last look. A thread pauses until that is earned (base/rate.h).
 */
#include "base/counters.h"
#include "base/glob.h"
#include "base/memory.h"
#include "base/rate.h"
#include "base/syscall.h"
#include "event/explain.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <trapline/hit.h>
#include <trapline/throttle.h>

#define SECOND 1000000000ull
#define DEFAULT_BURST_NS 50000000ull
#define SLICE_NS 20000000ull /* a pausing thread looks again this often */
#define PATTERN_SIZE 64
#define THREAD_CLOCKS 4

struct tl_throttle {
	tl_event *event;
	struct rate rate;
	uint64_t earned;
	uint64_t paused_ns;
	uint64_t process_clock; /* CPU time of the process accounted so far */
	bool closing;
	uint64_t period;
	bool by_cpu_time;
	bool whole_process; /* no pattern, all threads: the process's clock is exact */
	char pattern[PATTERN_SIZE];
};

/* This thread's CPU time accounted so far, by throttle; and how deep it is in held sections. */
static __thread struct {
	const struct tl_throttle *throttle;
	uint64_t clock;
} thread_clocks[THREAD_CLOCKS] __attribute__((tls_model("initial-exec")));
static __thread unsigned held __attribute__((tls_model("initial-exec")));

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	raw_syscall3(SYS_clock_gettime, clock, (long)&now, 0);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* ---- accounting ------------------------------------------------------------------------- */

static uint64_t *thread_clock(const struct tl_throttle *throttle, uint64_t now)
{
	for (int i = 0; i < THREAD_CLOCKS; i++) {
		if (thread_clocks[i].throttle == throttle)
			return &thread_clocks[i].clock;
		if (thread_clocks[i].throttle)
			continue;
		thread_clocks[i].throttle = throttle;
		/* Its first hit comes one period after it was covered. */
		thread_clocks[i].clock = now > throttle->period ? now - throttle->period : 0;
		return &thread_clocks[i].clock;
	}
	return NULL;
}

static uint64_t used_by_process(struct tl_throttle *throttle)
{
	uint64_t now = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t before = __atomic_load_n(&throttle->process_clock, __ATOMIC_RELAXED);

	do {
		if (now <= before)
			return 0;
	} while (!__atomic_compare_exchange_n(&throttle->process_clock, &before, now, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return now - before;
}

/* Units used since the last look. */
static uint64_t used_since(struct tl_throttle *throttle)
{
	uint64_t now, used, *accounted;

	if (!throttle->by_cpu_time)
		return throttle->period;
	if (throttle->whole_process)
		return used_by_process(throttle);
	now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	accounted = thread_clock(throttle, now);
	if (!accounted)
		return throttle->period;
	used = now - *accounted;
	*accounted = now;
	return used;
}

/* Pays for `units`; returns when they will have been earned. */
static uint64_t charge(struct tl_throttle *throttle, uint64_t units)
{
	return rate_charge(&throttle->earned, &throttle->rate, units, clock_ns(CLOCK_MONOTONIC));
}

/* ---- pausing ---------------------------------------------------------------------------- */

/* In slices, so that a changed budget or a closing throttle is noticed. */
static void pause_until(struct tl_throttle *throttle, uint64_t earned)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), now = start;
	uint64_t budget = __atomic_load_n(&throttle->rate.budget, __ATOMIC_RELAXED);

	while (now < earned && !__atomic_load_n(&throttle->closing, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&throttle->rate.budget, __ATOMIC_RELAXED) != budget)
			break;
		raw_nanosleep(earned - now < SLICE_NS ? earned - now : SLICE_NS);
		now = clock_ns(CLOCK_MONOTONIC);
	}
	__atomic_fetch_add(&throttle->paused_ns, now - start, __ATOMIC_RELAXED);
}

static bool concerns_this_thread(const struct tl_throttle *throttle)
{
	char name[17] = "";

	if (!throttle->pattern[0])
		return true;
	raw_syscall6(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
	return glob_match(throttle->pattern, name);
}

static void on_period(tl_hit *hit, void *arg)
{
	struct tl_throttle *throttle = arg;
	uint64_t used = used_since(throttle), earned;

	(void)hit;
	/* What it used under another name is not charged, and not later either. */
	if (!concerns_this_thread(throttle))
		return;
	earned = charge(throttle, used);
	if (held)
		counter_increment(COUNTER_PAUSES_HELD);
	else
		pause_until(throttle, earned);
}

void tl_throttle_hold(void)
{
	held++;
	__asm__ volatile("" : : : "memory"); /* before what the section does; same thread only */
}

void tl_throttle_release(void)
{
	__asm__ volatile("" : : : "memory");
	if (held)
		held--;
}

/* ---- opening ---------------------------------------------------------------------------- */

static int check_spec(const struct tl_throttle_spec *spec, struct tl_throttle_spec *known)
{
	explain_clear();
	if (!spec || spec->size < sizeof(*known))
		return explain_failure(
			-EINVAL, "tl_throttle_spec.size must be sizeof(struct tl_throttle_spec)");
	for (size_t i = sizeof(*known); i < spec->size; i++)
		if (((const char *)spec)[i])
			return -E2BIG;
	*known = *spec;
	if (!known->counter || !known->budget)
		return explain_failure(-EINVAL,
				       "tl_throttle_spec needs a counter and a budget above 0");
	/* Sleeping is a switch, and waking may be a migration: a pause would cost another. */
	if (known->counter == TL_CONTEXT_SWITCHES || known->counter == TL_MIGRATIONS)
		return explain_failure(-EINVAL, "context switches and migrations cannot be "
						"limited: a pause is one itself");
	if (known->threads && strlen(known->threads) >= PATTERN_SIZE)
		return explain_failure(-EINVAL, "tl_throttle_spec.threads is longer than 63 bytes");
	return 0;
}

static uint64_t burst_time(uint64_t budget, uint64_t burst)
{
	return burst ? rate_burst(budget, burst) : DEFAULT_BURST_NS;
}

static void adopt(struct tl_throttle *throttle, const struct tl_throttle_spec *spec)
{
	throttle->by_cpu_time = spec->counter == TL_CPU_TIME;
	throttle->rate.budget = spec->budget;
	throttle->rate.burst = burst_time(spec->budget, spec->burst);
	throttle->earned = clock_ns(CLOCK_MONOTONIC);
	throttle->process_clock = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	throttle->period = spec->period;
	if (!throttle->period)
		throttle->period = throttle->by_cpu_time ? rate_cpu_period(spec->budget) : 1;
	throttle->whole_process = spec->scope == TL_PROCESS && !spec->threads;
	if (spec->threads)
		strcpy(throttle->pattern, spec->threads);
}

int tl_throttle_open(tl_throttle **throttle, const struct tl_throttle_spec *spec)
{
	struct tl_throttle_spec known = {0};
	struct tl_throttle *created;
	struct tl_spec event_spec;
	int err = throttle ? check_spec(spec, &known) : -EINVAL;

	if (err)
		return err;
	created = page_allocate(sizeof(*created));
	if (!created)
		return -ENOMEM;
	adopt(created, &known);
	event_spec = (struct tl_spec){.size = sizeof(event_spec),
				      .counter = known.counter,
				      .period = created->period,
				      .scope = known.scope,
				      .tids = known.tids,
				      .ntids = known.ntids};
	err = tl_event_open(&created->event, &event_spec, on_period, created);
	if (err) {
		page_free(created, sizeof(*created));
		return err;
	}
	*throttle = created;
	return 0;
}

int tl_throttle_set_budget(tl_throttle *throttle, uint64_t budget, uint64_t burst)
{
	if (!throttle || !budget)
		return -EINVAL;
	__atomic_store_n(&throttle->rate.burst, burst_time(budget, burst), __ATOMIC_RELAXED);
	/* Debt made under the old budget is not carried over: it would be paid at the new rate. */
	__atomic_store_n(&throttle->earned, clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
	__atomic_store_n(&throttle->rate.budget, budget, __ATOMIC_RELEASE);
	return 0;
}

uint64_t tl_throttle_paused(const tl_throttle *throttle)
{
	return throttle ? __atomic_load_n(&throttle->paused_ns, __ATOMIC_RELAXED) : 0;
}

int tl_throttle_close(tl_throttle *throttle)
{
	int err;

	if (!throttle)
		return -EINVAL;
	__atomic_store_n(&throttle->closing, true, __ATOMIC_RELEASE);
	err = tl_event_close(throttle->event);
	page_free(throttle, sizeof(*throttle));
	return err;
}
