/* SPDX-License-Identifier: Apache-2.0 */
#include "target/active.h"

#include "base/clock.h"
#include "event/threads.h"
#include "target/target.h"
#include "process/thread_status.h"

#include <stdlib.h>

#define MANY_THREADS 64 /* threads; in a process with fewer, all are watched */
/* Slots are opened in few threads alone where these are at most this part of all. */
#define FEW_PARTS 4
#define GUESTS 4       /* threads, drawn from the others, in which slots are opened as well */
#define DEAR (200000u) /* ns that arming takes; while it takes less, threads are not counted */
/* The first looks, which cost less than arming in all threads does meanwhile. */
#define LOOKS_SOON 5
#define LOOK_INTERVAL_SOON (200 * MILLISECOND)
#define LOOKS_LEAST (4 * SECOND) /* ns between two later looks … */
#define LOOK_SHARE 500		 /* … which take at most this part of the time */
#define THREADS_MAX 65536

struct active_thread {
	pid_t tid;
	uint64_t slices; /* of time that it has been given */
};

/* Finds a thread, beginning behind the last match: the kernel lists threads in an order that seldom
 * changes. */
static const struct active_thread *find(const struct active *active, pid_t tid, size_t *from)
{
	for (size_t i = 0; i < active->known_count; i++) {
		size_t at = (*from + i) % active->known_count;

		if (active->known[at].tid == tid) {
			*from = at + 1;
			return &active->known[at];
		}
	}
	return NULL;
}

/* Adds a thread. False: it is there already, or there is no room. */
static bool add(struct active *active, pid_t tid)
{
	for (unsigned i = 0; i < active->count; i++)
		if (active->tid[i] == tid)
			return false;
	if (active->count == ACTIVE_MAX)
		return false;
	active->tid[active->count++] = tid;
	return true;
}

struct scan {
	struct active_thread *thread;
	size_t count, ran;
};

static size_t at_most(size_t count)
{
	return count < THREADS_MAX ? count : THREADS_MAX;
}

/* Adds those of `threads` that ran since the last scan to `active`, which is empty. */
static bool scan_threads(const struct target *target, struct active *active,
			 const struct thread_set *threads, struct scan *scan)
{
	size_t most = at_most(threads->count), from = 0;

	scan->thread = malloc((most + 1) * sizeof(*scan->thread));
	if (!scan->thread)
		return false;
	for (size_t i = 0; i < most; i++) {
		const struct active_thread *known;
		struct active_thread thread = {.tid = threads->tids[i]};
		struct thread_slices slices;

		if (!thread_status_slices(target->pid, thread.tid, &slices))
			continue;
		thread.slices = slices.count;
		known = find(active, thread.tid, &from);
		if (!known || known->slices != thread.slices) {
			add(active, thread.tid);
			scan->ran++;
		}
		scan->thread[scan->count++] = thread;
	}
	return true;
}

static void invite_guests(struct program *program, struct active *active, const struct scan *scan)
{
	for (int i = 0; i < GUESTS && scan->count; i++)
		add(active, scan->thread[random_next(&program->random) % scan->count].tid);
}

static void conclude(struct target *target, struct scan *scan)
{
	struct active *active = &target->active;
	bool compared = active->known_count > 0;
	bool was_few = active->few;

	active->few = compared && scan->count >= MANY_THREADS && scan->ran + GUESTS <= ACTIVE_MAX &&
		      scan->ran * FEW_PARTS <= scan->count;
	if (active->few)
		invite_guests(target->program, active, scan);
	if (active->few || was_few)
		active->version++;
	free(active->known);
	active->known = scan->thread;
	active->known_count = scan->count;
}

void active_look(struct target *target, uint64_t now)
{
	struct active *active = &target->active;
	struct thread_set threads = {0};
	struct scan scan = {0};
	uint64_t took, pause;

	if (now < active->next_look || (!active->few && target->arm_time < DEAR))
		return;
	active->count = 0;
	if (!thread_set_list(&threads, target->pid) &&
	    scan_threads(target, active, &threads, &scan))
		conclude(target, &scan);
	thread_set_destroy(&threads);
	took = clock_now() - now;
	pause = took * LOOK_SHARE > LOOKS_LEAST ? took * LOOK_SHARE : LOOKS_LEAST;
	active->next_look = now + (active->looks++ < LOOKS_SOON ? LOOK_INTERVAL_SOON : pause);
}

void active_note(struct target *target, pid_t tid)
{
	struct active *active = &target->active;

	if (active->few && add(active, tid))
		active->version++;
}

void active_forget(struct target *target)
{
	free(target->active.known);
	target->active = (struct active){0};
}
