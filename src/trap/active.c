/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that used CPU time lately: a counter of CPU time over the whole process interrupts
 * once a period, and the interrupted thread notes itself in a ring. The cost follows the CPU time
 * used, not the number of threads.
 */
#include "base/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>
#include <trapline/active.h>
#include <trapline/hit.h>

#define SAMPLES 1024 /* power of two */
#define TID_BITS 22  /* PID_MAX_LIMIT is 2^22 */
#define TICK_SHIFT 14

struct tl_active {
	tl_event *event;
	unsigned next;
	/* The thread's id in the low bits, the time in units of 2^14 ns above: one word, so that it
	 * is never torn. */
	uint64_t samples[SAMPLES];
};

static uint64_t now_ticks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) >> TICK_SHIFT;
}

static void note_thread(tl_hit *hit, void *arg)
{
	struct tl_active *active = arg;
	unsigned slot = __atomic_fetch_add(&active->next, 1, __ATOMIC_RELAXED) % SAMPLES;

	__atomic_store_n(&active->samples[slot],
			 now_ticks() << TID_BITS | (uint64_t)tl_hit_tid(hit), __ATOMIC_RELEASE);
}

int tl_active_open(tl_active **active, uint64_t period_ns)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .counter = TL_CPU_TIME,
			       .period = period_ns,
			       .scope = TL_PROCESS,
			       .flags = TL_BEST_EFFORT};
	struct tl_active *created;
	int err;

	if (!active || !period_ns)
		return -EINVAL;
	created = page_allocate(sizeof(*created));
	if (!created)
		return -ENOMEM;
	err = tl_event_open(&created->event, &spec, note_thread, created);
	if (err) {
		page_free(created, sizeof(*created));
		return err;
	}
	*active = created;
	return 0;
}

static bool contains(const pid_t *tids, size_t count, pid_t tid)
{
	for (size_t i = 0; i < count; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

int tl_active_threads(tl_active *active, pid_t *tids, size_t max, uint64_t window_ns)
{
	unsigned newest = __atomic_load_n(&active->next, __ATOMIC_ACQUIRE);
	uint64_t now = now_ticks(), window = window_ns >> TICK_SHIFT;
	size_t count = 0;

	for (unsigned i = 1; i <= SAMPLES && count < max; i++) {
		uint64_t sample =
			__atomic_load_n(&active->samples[(newest - i) % SAMPLES], __ATOMIC_ACQUIRE);
		uint64_t tick = sample >> TID_BITS;
		pid_t tid = (pid_t)(sample & ((1u << TID_BITS) - 1));

		/* An interrupted thread that has taken its place in the ring, but not yet written
		 * it, leaves an old sample there; a sample written since may be newer than
		 * `now`. */
		if (!sample || (tick < now && now - tick > window))
			continue;
		if (!contains(tids, count, tid))
			tids[count++] = tid;
	}
	return (int)count;
}

void tl_active_close(tl_active *active)
{
	if (!active)
		return;
	tl_event_close(active->event);
	page_free(active, sizeof(*active));
}
