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

#include "trap/deliver.h"

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
#define THREAD_CLOCKS 16
#define NO_PLACE THREAD_CLOCKS

/* One budget and what was used of it. With TL_TREE on a page that all processes of the tree map. */
struct account {
	struct rate rate;
	uint64_t earned;
	uint64_t paused_ns;
	uint32_t changes; /* of the budget */
	uint32_t ended;	  /* who opened it has closed it: forked children learn it here */
};

/* CPU time of a thread accounted so far, and to which throttle. */
struct thread_clock {
	uint64_t serial; /* 0: none */
	uint64_t clock;
};

struct tl_throttle {
	tl_event *event;
	struct account *account; /* `own`, or of a tree, whose processes share its page */
	struct account own;
	uint64_t process_clock; /* CPU time of the process accounted so far */
	bool closing;
	pid_t owner;		  /* who opened it: a forked child's copy ends nothing */
	uint64_t serial;	  /* pages and places come back */
	unsigned place;		  /* among each thread's clocks, or NO_PLACE: `only` */
	struct thread_clock only; /* where one thread alone is covered */
	uint64_t period;
	bool by_cpu_time;
	bool whole_process; /* no pattern, all threads: the process's clock is exact */
	char pattern[PATTERN_SIZE];
};

/* Each open throttle that looks at the clocks of several threads has a place of its own among them,
 * so that none of them ever displaces another's. */
static __thread struct thread_clock thread_clocks[THREAD_CLOCKS]
	__attribute__((tls_model("initial-exec")));
static uint32_t places; /* bit i: taken */
/* How deep this thread is in held sections. */
static __thread unsigned held __attribute__((tls_model("initial-exec")));

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	raw_syscall3(SYS_clock_gettime, clock, (long)&now, 0);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* ---- accounting ------------------------------------------------------------------------- */

static struct thread_clock *thread_clock(struct tl_throttle *throttle)
{
	return throttle->place == NO_PLACE ? &throttle->only : &thread_clocks[throttle->place];
}

/* Sets the calling thread's clock, so that CPU time that it used before is not charged. */
static void account_from_now(struct tl_throttle *throttle)
{
	*thread_clock(throttle) = (struct thread_clock){.serial = throttle->serial,
							.clock = clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

/* Where the account of this thread stands. Of a thread that did not open the throttle it is begun
 * at the first look, of `by`: whichever of the two has the shorter period, the thread has been
 * covered for that long or longer, and what is more is not charged. */
static uint64_t *accounted_clock(struct tl_throttle *throttle, const struct tl_throttle *by,
				 uint64_t now)
{
	struct thread_clock *own = thread_clock(throttle);
	uint64_t most = by->period < throttle->period ? by->period : throttle->period;

	if (own->serial != throttle->serial) {
		own->serial = throttle->serial;
		own->clock = now > most ? now - most : 0;
	}
	return &own->clock;
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
static uint64_t used_since(struct tl_throttle *throttle, const struct tl_throttle *by)
{
	uint64_t now, used, *accounted;

	if (!throttle->by_cpu_time)
		return throttle->period;
	if (throttle->whole_process)
		return used_by_process(throttle);
	now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	accounted = accounted_clock(throttle, by, now);
	/* A forked child's clock begins anew, and it has its parent's account. */
	used = now >= *accounted ? now - *accounted : now;
	*accounted = now;
	return used;
}

/* Pays for `units`; returns when they will have been earned. */
static uint64_t charge(const struct tl_throttle *throttle, uint64_t units)
{
	struct account *account = throttle->account;

	return rate_charge(&account->earned, &account->rate, units, clock_ns(CLOCK_MONOTONIC));
}

/* ---- pausing ---------------------------------------------------------------------------- */

static bool is_ending(const struct tl_throttle *throttle)
{
	return __atomic_load_n(&throttle->closing, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&throttle->account->ended, __ATOMIC_ACQUIRE);
}

/* In slices, so that a changed budget or a closing throttle is noticed; also `by`, in whose handler
 * this is: what is owed then is paid at the next look. */
static void pause_until(const struct tl_throttle *throttle, const struct tl_throttle *by,
			uint64_t earned, uint32_t changes)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), now = start;

	while (now < earned && !is_ending(throttle) && !is_ending(by)) {
		if (__atomic_load_n(&throttle->account->changes, __ATOMIC_ACQUIRE) != changes)
			break;
		raw_nanosleep(earned - now < SLICE_NS ? earned - now : SLICE_NS);
		now = clock_ns(CLOCK_MONOTONIC);
	}
	__atomic_fetch_add(&throttle->account->paused_ns, now - start, __ATOMIC_RELAXED);
}

static bool concerns_this_thread(const struct tl_throttle *throttle)
{
	char name[17] = "";

	if (!throttle->pattern[0])
		return true;
	raw_syscall6(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
	return glob_match(throttle->pattern, name);
}

static void look(struct tl_throttle *throttle, const struct tl_throttle *by)
{
	/* Pairs with tl_throttle_set_budget(): what is charged before that is forgiven. */
	uint32_t changes = __atomic_load_n(&throttle->account->changes, __ATOMIC_ACQUIRE);
	uint64_t used = used_since(throttle, by), earned;

	/* CPU time that the thread used under a name outside the pattern was read above, and is not
	 * charged, now or later. In a forked child events of ended throttles stay open for ever. */
	if (is_ending(throttle) || !concerns_this_thread(throttle))
		return;
	earned = charge(throttle, used);
	if (held)
		counter_increment(COUNTER_PAUSES_HELD);
	else
		pause_until(throttle, by, earned, changes);
}

static void look_if_timed(void *arg, void *by)
{
	struct tl_throttle *throttle = arg;

	if (throttle->by_cpu_time)
		look(throttle, by);
}

/*
 * Clocks of several throttles may fire at once, and then their signals are merged into one: without
 * more, one of two of the same period would never look. So a look for one throttle of CPU time is a
 * look for all that cover this thread. A merged signal of another counter is lost.
 */
static void on_period(tl_hit *hit, void *arg)
{
	struct tl_throttle *throttle = arg;
	bool by_cpu_time = throttle->by_cpu_time;

	look(throttle, throttle);
	if (by_cpu_time)
		deliver_beside(tl_hit_event(hit), look_if_timed);
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
	static uint64_t serials;

	throttle->owner = raw_getpid();
	throttle->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
	throttle->by_cpu_time = spec->counter == TL_CPU_TIME;
	throttle->account->rate.budget = spec->budget;
	throttle->account->rate.burst = burst_time(spec->budget, spec->burst);
	throttle->account->earned = clock_ns(CLOCK_MONOTONIC);
	throttle->process_clock = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	throttle->period = spec->period;
	if (!throttle->period)
		throttle->period = throttle->by_cpu_time ? rate_cpu_period(spec->budget) : 1;
	throttle->whole_process = spec->scope == TL_PROCESS && !spec->threads;
	if (spec->threads)
		strcpy(throttle->pattern, spec->threads);
}

static bool is_for_this_thread(const struct tl_throttle_spec *spec)
{
	return spec->scope == TL_THREAD || (spec->scope == TL_THREADS && spec->ntids == 1 &&
					    spec->tids && spec->tids[0] == raw_gettid());
}

static bool has_one_thread(const struct tl_throttle_spec *spec)
{
	return spec->scope == TL_THREAD || (spec->scope == TL_THREADS && spec->ntids == 1);
}

_Static_assert(THREAD_CLOCKS == 16, "the sentence below, the header and the manual say so");

static int take_place(struct tl_throttle *throttle, const struct tl_throttle_spec *spec)
{
	uint32_t taken = __atomic_load_n(&places, __ATOMIC_RELAXED);
	unsigned place;

	if (!throttle->by_cpu_time || throttle->whole_process || has_one_thread(spec))
		return 0;
	do {
		place = (unsigned)__builtin_ctz(~taken);
		if (place >= THREAD_CLOCKS)
			return explain_failure(-ENOSPC, "16 throttles of the CPU time of some "
							"threads or of a tree are open already");
	} while (!__atomic_compare_exchange_n(&places, &taken, taken | 1u << place, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	throttle->place = place;
	return 0;
}

static void discard(struct tl_throttle *throttle)
{
	if (throttle->place != NO_PLACE)
		__atomic_fetch_and(&places, ~(1u << throttle->place), __ATOMIC_RELAXED);
	if (throttle->account != &throttle->own)
		page_free(throttle->account, sizeof(*throttle->account));
	page_free(throttle, sizeof(*throttle));
}

static int create(struct tl_throttle **created, const struct tl_throttle_spec *spec)
{
	struct tl_throttle *throttle = page_allocate(sizeof(*throttle));
	int err = -ENOMEM;

	if (!throttle)
		return -ENOMEM;
	throttle->place = NO_PLACE;
	throttle->account = spec->scope == TL_TREE ? page_allocate_shared(sizeof(throttle->own))
						   : &throttle->own;
	if (throttle->account) {
		adopt(throttle, spec);
		err = take_place(throttle, spec);
	}
	if (err) {
		discard(throttle);
		return err;
	}
	/* Before the event is open, whose hits may come late. */
	if (throttle->place != NO_PLACE || is_for_this_thread(spec))
		account_from_now(throttle);
	*created = throttle;
	return 0;
}

int tl_throttle_open(tl_throttle **throttle, const struct tl_throttle_spec *spec)
{
	struct tl_throttle_spec known = {0};
	struct tl_throttle *created;
	struct tl_spec event_spec;
	int err = throttle ? check_spec(spec, &known) : -EINVAL;

	if (!err)
		err = create(&created, &known);
	if (err)
		return err;
	event_spec = (struct tl_spec){.size = sizeof(event_spec),
				      .counter = known.counter,
				      .period = created->period,
				      .scope = known.scope,
				      .tids = known.tids,
				      .ntids = known.ntids};
	err = tl_event_open(&created->event, &event_spec, on_period, created);
	if (err) {
		discard(created);
		return err;
	}
	*throttle = created;
	return 0;
}

int tl_throttle_set_budget(tl_throttle *throttle, uint64_t budget, uint64_t burst)
{
	struct account *account;

	if (!throttle || !budget)
		return -EINVAL;
	account = throttle->account;
	__atomic_store_n(&account->rate.burst, burst_time(budget, burst), __ATOMIC_RELAXED);
	/* Debt made under the old budget is not carried over: it would be paid at the new rate. */
	__atomic_store_n(&account->earned, clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
	__atomic_store_n(&account->rate.budget, budget, __ATOMIC_RELEASE);
	__atomic_fetch_add(&account->changes, 1, __ATOMIC_RELEASE);
	return 0;
}

uint64_t tl_throttle_paused(const tl_throttle *throttle)
{
	return throttle ? __atomic_load_n(&throttle->account->paused_ns, __ATOMIC_RELAXED) : 0;
}

int tl_throttle_close(tl_throttle *throttle)
{
	int err;

	if (!throttle)
		return -EINVAL;
	__atomic_store_n(&throttle->closing, true, __ATOMIC_RELEASE);
	if (throttle->owner == raw_getpid())
		__atomic_store_n(&throttle->account->ended, 1, __ATOMIC_RELEASE);
	err = tl_event_close(throttle->event);
	discard(throttle);
	return err;
}
