/* SPDX-License-Identifier: Apache-2.0 */
#include "target/census.h"

#include "base/clock.h"
#include "record/delay.h"
#include "event/threads.h"
#include "target/target.h"
#include "process/thread_status.h"

#include <stdatomic.h>

/* Between counts; the first comes sooner, and those of transient slots. */
#define INTERVAL SECOND
#define INTERVAL_SOON (200 * MILLISECOND)

/* Of so many threads that were looked at; of more, some, and the rest is taken to be like them. */
struct census {
	struct thread_rate thread[TRANSIENT_THREADS];
	unsigned count;
	bool all;
};

static uint64_t count_of(struct target *target, struct census *census)
{
	struct thread_set threads = {0};
	size_t looked_at;
	uint64_t sum = 0;

	thread_set_list(&threads, target->pid);
	census->all = threads.count <= TRANSIENT_THREADS;
	looked_at = census->all ? threads.count : TRANSIENT_THREADS;
	for (size_t i = 0; i < looked_at; i++) {
		struct thread_rate *thread = &census->thread[census->count];

		thread->tid = threads.tids[i * threads.count / looked_at];
		if (!thread_status_slices(target->pid, thread->tid, &thread->slices))
			continue;
		sum += thread->slices.count;
		census->count++;
	}
	if (looked_at)
		sum = sum * threads.count / looked_at;
	/* A thread that makes threads for pieces of work waits for them: half of all can be held.
	 */
	atomic_store_explicit(&target->shared->lanes,
			      threads.count < 2 ? 1 : (uint32_t)threads.count / 2,
			      memory_order_relaxed);
	thread_set_destroy(&threads);
	return sum;
}

/* What a hold of each thread delays follows from how often it wakes (record/delay.h). Of threads
 * whose identities hash alike the one counts that wakes most often; where the kernel's numbers of
 * threads are not those that the program knows, or there are too many threads, nothing is known. */
static void tell_wakes(struct target *target)
{
	struct area_process *shared = target->shared;
	uint32_t wakes[AREA_CREDITS] = {0};

	for (unsigned i = 0; i < target->transient.count; i++) {
		const struct thread_rate *thread = &target->transient.thread[i];
		size_t index =
			(size_t)(area_credit_of(shared, (uint64_t)thread->tid) - shared->credit);

		if (wakes[index] < delay_wakes(thread->work))
			wakes[index] = delay_wakes(thread->work);
	}
	for (unsigned i = 0; i < AREA_CREDITS; i++)
		atomic_store_explicit(&shared->credit[i].wakes, wakes[i], memory_order_relaxed);
}

bool census_take(struct target *target, uint64_t now)
{
	struct census census = {0};
	uint64_t before = target->wakeups.counted_at, count;
	double seconds = (double)(now - before + 1) / (double)SECOND;
	bool soon;

	if (now < target->next_count)
		return false;
	count = count_of(target, &census);
	wakeups_count(&target->wakeups, now, count, clock_read(clock_of_process(target->pid)));
	transient_look(target, census.thread, census.all ? census.count : 0, seconds);
	if (target->program->ways.budgeted)
		tell_wakes(target);
	soon = !before || (target->transient.on && !armed_is_dear(target));
	target->next_count = now + (soon ? INTERVAL_SOON : INTERVAL);
	return true;
}
