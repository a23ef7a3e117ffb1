/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits: a thread that has used more than was earned pauses itself, in the handler of the counter
 * that brought it here. Nothing outside stops it.
 *
 * CPU time is read from the kernel's clocks at each look, so a late look changes the smoothness and
 * not the sum. A limit for whole processes reads the clock of the process, which also knows what
 * threads used that have ended; one for some threads reads the thread's.
 *
 * While it pauses the thread has the signal mask it had before, so the program's own handlers run.
 * One of them may leave by longjmp(): nothing here depends on being returned to.
 */
#include "allowance/throttle.h"

#include "agent/state.h"
#include "base/glob.h"
#include "base/syscall.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <trapline/throttle.h>

#define SECOND 1000000000u
#define SLICE_NS 100000000
#define LOOK_NS 20000000u /* a look must cost far less than the lowest budget earns */

/* `tid`: whose clock it is. A task made by clone(2) without storage of its own shares it. */
struct own {
	uint64_t clock; /* CPU time charged so far */
	uint64_t earned;
	pid_t tid;
};

#ifdef AGENT_INJECTED
/* Threads have no storage of ours. Accepted: those whose ids meet in the table share an account,
 * and each pays a period at a look that comes after the other's. */
#define OWN_THREADS 256
static struct own own_table[OWN_THREADS][AREA_LIMITS];

static struct own *own(uint32_t index)
{
	return &own_table[(uint32_t)raw_gettid() % OWN_THREADS][index];
}

static bool is_held(void)
{
	return false;
}
#else
static __thread struct own own_limits[AREA_LIMITS] __attribute__((tls_model("initial-exec")));
static __thread unsigned held __attribute__((tls_model("initial-exec")));

static struct own *own(uint32_t index)
{
	return &own_limits[index];
}

static bool is_held(void)
{
	return held;
}
#endif

static uint64_t cpu_clock(clockid_t clock)
{
	struct timespec now;

	if (raw_syscall3(SYS_clock_gettime, clock, (long)&now, 0))
		return 0;
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* ------------------------------------------------------------------------------------------- */
/* Accounting */

static bool is_on(const struct area_limit *limit)
{
	return atomic_load_explicit(&limit->state, memory_order_acquire) == AREA_LIMIT_ON;
}

static bool has_limits(void)
{
	for (uint32_t i = 0; i < AREA_LIMITS; i++)
		if (is_on(&agent_state.area->limit[i]))
			return true;
	return false;
}

static bool charges_processes(const struct area_limit *limit)
{
	return limit->counter == TL_CPU_TIME && limit->each != AREA_EACH_THREAD &&
	       !limit->threads[0];
}

static uint64_t used_by_process(uint64_t *clock)
{
	uint64_t now = cpu_clock(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t before = __atomic_load_n(clock, __ATOMIC_RELAXED);

	do {
		if (now <= before)
			return 0;
	} while (!__atomic_compare_exchange_n(clock, &before, now, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return now - before;
}

/* The first look comes after one period, by the kernel's count. */
static uint64_t used_by_thread(uint32_t index, uint64_t period)
{
	uint64_t now = cpu_clock(CLOCK_THREAD_CPUTIME_ID), used = period;
	pid_t tid = raw_gettid();
	struct own *account = own(index);

	if (account->tid == tid && now >= account->clock)
		used = now - account->clock;
	account->tid = tid;
	account->clock = now;
	return used;
}

/* To the microsecond, and with the giving back of their memory, which the controller's own counter
 * no longer sees: see src/limit/unpaid.c. */
void throttle_note_children(void)
{
	struct area_process *process = agent_state.process;
	struct rusage usage;

	if (!process || !has_limits() ||
	    atomic_load_explicit(&process->quiet, memory_order_relaxed) ||
	    raw_syscall3(SYS_getrusage, RUSAGE_CHILDREN, (long)&usage, 0))
		return;
	__atomic_store_n(&process->children_time,
			 (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * SECOND +
				 (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
					 1000u,
			 __ATOMIC_RELAXED);
}

static uint64_t used_since(struct area_process *process, struct area_limit *limit, uint32_t index)
{
	if (limit->counter != TL_CPU_TIME)
		return limit->period;
	if (charges_processes(limit))
		return used_by_process(&process->limit_clock[index]);
	return used_by_thread(index, limit->period);
}

static uint64_t *account(struct area_process *process, struct area_limit *limit, uint32_t index)
{
	if (limit->each == AREA_EACH_TREE)
		return &limit->earned;
	if (limit->each == AREA_EACH_PROCESS)
		return &process->limit_earned[index];
	return &own(index)->earned;
}

static uint64_t charge(struct area_process *process, struct area_limit *limit, uint32_t index,
		       uint64_t used)
{
	atomic_fetch_add_explicit(&limit->used, used, memory_order_relaxed);
	return rate_charge(account(process, limit, index), &limit->rate, used, agent_now());
}

static bool concerns_this_thread(const struct area_limit *limit)
{
	char pattern[AREA_PATTERN], name[17] = "";

	if (!limit->threads[0])
		return true;
	/* The program may have scribbled over it: an end is not relied upon. */
	memcpy(pattern, limit->threads, sizeof(pattern));
	pattern[sizeof(pattern) - 1] = '\0';
	raw_syscall6(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
	return glob_match(pattern, name);
}

/* ------------------------------------------------------------------------------------------- */
/* Pausing */

static void note_pause(struct area_limit *limit, uint64_t length)
{
	uint64_t longest = atomic_load_explicit(&limit->longest, memory_order_relaxed);

	atomic_fetch_add_explicit(&limit->pauses, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&limit->paused, length, memory_order_relaxed);
	while (length > longest &&
	       !atomic_compare_exchange_weak_explicit(&limit->longest, &longest, length,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

static bool may_pause(const struct area_process *process, const struct area_limit *limit)
{
	return is_on(limit) && !area_is_closed(agent_state.area) &&
	       !atomic_load_explicit(&process->quiet, memory_order_relaxed);
}

/* Where the kernel does not let it wait for a change, it looks for one from time to time. In
 * slices: the controller's death wakes nobody, and ends its limits. */
static void wait_for_change(struct area_limit *limit, uint32_t changed, uint64_t length)
{
	struct timespec left = {0, length < SLICE_NS ? (long)length : SLICE_NS};
	long err = raw_futex((uint32_t *)&limit->changed, FUTEX_WAIT, changed, &left);

	if (err && err != -ETIMEDOUT && err != -EINTR)
		raw_nanosleep(length < LOOK_NS ? length : LOOK_NS);
}

/* Until `earned`, or until `changed` is no longer what it was: then what is owed is forgiven, since
 * it would be paid at another rate. */
static void pause_until(struct area_process *process, struct area_limit *limit, uint32_t index,
			uint64_t earned, uint32_t changed)
{
	uint64_t begin = agent_now(), now = begin;

	while (now < earned && may_pause(process, limit)) {
		wait_for_change(limit, changed, earned - now);
		now = agent_now();
		if (atomic_load(&limit->changed) == changed)
			continue;
		if (limit->each != AREA_EACH_TREE)
			__atomic_store_n(account(process, limit, index), now, __ATOMIC_RELAXED);
		break;
	}
	if (now > begin)
		note_pause(limit, now - begin);
}

void throttle_wake(struct area *area)
{
	for (uint32_t i = 0; i < AREA_LIMITS; i++) {
		if (!is_on(&area->limit[i]))
			continue;
		atomic_fetch_add(&area->limit[i].changed, 1);
		raw_futex((uint32_t *)&area->limit[i].changed, FUTEX_WAKE, INT_MAX, NULL);
	}
}

/* 0: nothing to wait for. */
static uint64_t pay(struct area_process *process, struct area_limit *limit, uint32_t index)
{
	uint64_t used = used_since(process, limit, index), earned;

	if (!concerns_this_thread(limit))
		return 0;
	earned = charge(process, limit, index, used);
	if (!is_held())
		return earned;
	atomic_fetch_add_explicit(&limit->held, 1, memory_order_relaxed);
	return 0;
}

/*
 * Clocks of several limits may fire at once, and then their signals are merged into one: a look for
 * one limit of CPU time is a look for all of them. A merged signal of another counter is lost.
 */
static void pay_all(struct area_process *process, uint32_t index, uint64_t earned[AREA_LIMITS],
		    uint32_t changed[AREA_LIMITS])
{
	struct area_limit *limits = agent_state.area->limit;
	bool is_time = limits[index].counter == TL_CPU_TIME;

	for (uint32_t i = 0; i < AREA_LIMITS; i++) {
		bool due = i == index || (is_time && limits[i].counter == TL_CPU_TIME);

		changed[i] = atomic_load(&limits[i].changed);
		earned[i] = due && is_on(&limits[i]) ? pay(process, &limits[i], i) : 0;
	}
}

void throttle_look(struct area_process *process, uint32_t index, bool late,
		   const ucontext_t *context)
{
	struct area_limit *limit = &agent_state.area->limit[index];
	uint64_t earned[AREA_LIMITS], mask;
	uint32_t changed[AREA_LIMITS];

	if (!is_on(limit))
		return;
	atomic_fetch_add_explicit(&limit->looks, 1, memory_order_relaxed);
	if (late)
		atomic_fetch_add_explicit(&limit->late, 1, memory_order_relaxed);
	if (!may_pause(process, limit)) {
		atomic_fetch_add_explicit(&limit->filtered, 1, memory_order_relaxed);
		return;
	}
	pay_all(process, index, earned, changed);
	throttle_note_children();
	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	raw_sigprocmask(SIG_SETMASK, &mask, NULL);
	for (uint32_t i = 0; i < AREA_LIMITS; i++)
		pause_until(process, &agent_state.area->limit[i], i, earned[i], changed[i]);
}

/* ------------------------------------------------------------------------------------------- */
/* Processes: many short ones use as much as one that lasts */

void throttle_enter(struct area *area, struct area_process *process)
{
	const struct area_process *previous = NULL;

	/* The image this one has replaced: the clock of the process goes on. It says nothing where
	 * there has never been a limit, and is not looked for: each entry is a page of its own. */
	for (uint32_t i = 0; atomic_load(&area->limits_changed) && i < AREA_PROCESSES && !previous;
	     i++)
		if (&area->process[i] != process && area->process[i].pid == process->pid &&
		    atomic_load(&area->process[i].state) != AREA_PROCESS_FREE)
			previous = &area->process[i];
	for (uint32_t i = 0; i < AREA_LIMITS; i++) {
		process->limit_earned[i] = process->start_time;
		process->limit_clock[i] = previous ? previous->limit_clock[i] : 0;
	}
	process->children_time = 0;
}

static uint64_t pay_for_process(struct area_process *process, uint32_t index)
{
	struct area_limit *limit = &agent_state.area->limit[index];

	return charge(process, limit, index, used_by_process(&process->limit_clock[index]));
}

static bool is_watched(const struct area_process *process)
{
	return process && atomic_load(&process->state) == AREA_PROCESS_WATCHED &&
	       !atomic_load(&process->quiet);
}

void throttle_begin(void)
{
	struct area_process *process = agent_state.process;

	for (uint32_t i = 0; is_watched(process) && i < AREA_LIMITS; i++) {
		struct area_limit *limit = &agent_state.area->limit[i];
		uint32_t changed = atomic_load(&limit->changed);

		if (is_on(limit) && charges_processes(limit))
			pause_until(process, limit, i, pay_for_process(process, i), changed);
	}
}

void throttle_end(void)
{
	struct area_process *process = agent_state.process;

	for (uint32_t i = 0; is_watched(process) && i < AREA_LIMITS; i++)
		if (is_on(&agent_state.area->limit[i]) &&
		    charges_processes(&agent_state.area->limit[i]))
			pay_for_process(process, i);
}

/* ------------------------------------------------------------------------------------------- */
/* The library's functions of these names, for programs that mark their critical sections */

#ifndef AGENT_INJECTED

static void (*library_hold)(void);
static void (*library_release)(void);

__attribute__((constructor)) static void resolve(void)
{
	library_hold = (void (*)(void))dlsym(RTLD_NEXT, "tl_throttle_hold");
	library_release = (void (*)(void))dlsym(RTLD_NEXT, "tl_throttle_release");
}

TL_API void tl_throttle_hold(void)
{
	held++;
	if (library_hold)
		library_hold();
}

TL_API void tl_throttle_release(void)
{
	if (library_release)
		library_release();
	if (held)
		held--;
}
#endif
