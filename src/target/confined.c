/* SPDX-License-Identifier: Apache-2.0 */
#include "target/confined.h"

#include "base/clock.h"
#include "inject/inject.h"
#include "process/restriction.h"
#include "target/target.h"

#include <linux/seccomp.h>
#include <stdatomic.h>

/* ns between two looks. A look at a thread takes some 10 us, so THREADS_AT_ONCE threads this often
 * take a few percent of a CPU at most; of more threads each is looked at in its turn. */
#define LOOK_EVERY (20 * MILLISECOND)
#define THREADS_AT_ONCE 64

bool confined_note(struct target *target, const struct inject_thread *thread)
{
	const struct restriction restriction = {thread->seccomp, thread->filters};

	if (restriction_is_on(&restriction, target->filters))
		atomic_store(&target->shared->quiet, 1);
	return restriction.mode != SECCOMP_MODE_STRICT;
}

/* Notes the threads that are in strict mode already. If there is no memory to note one, it counts
 * as one that came later, so that the first confined_look() ends the watching. */
void confined_begin(struct target *target)
{
	struct thread_set threads = {0};

	thread_set_list(&threads, target->pid);
	for (size_t i = 0; i < threads.count; i++) {
		struct inject_thread thread = inject_look_at_seccomp(threads.tids[i]);

		if (!confined_note(target, &thread))
			thread_set_add(&target->confined.before, threads.tids[i]);
	}
	thread_set_destroy(&threads);
}

void confined_end(struct target *target)
{
	thread_set_destroy(&target->confined.before);
}

/* Accepted: a later thread that has the id of one that was strict before. */
static void look_at(struct target *target, pid_t tid)
{
	struct inject_thread thread = inject_look_at_seccomp(tid);

	if (!confined_note(target, &thread) && !thread_set_contains(&target->confined.before, tid))
		target->confined.later = true;
}

bool confined_look(struct target *target)
{
	struct confined *confined = &target->confined;
	struct thread_set threads = {0};
	uint64_t now = clock_now();

	if (confined->later || now < confined->next_look)
		return !confined->later;
	confined->next_look = now + LOOK_EVERY;
	thread_set_list(&threads, target->pid);
	for (size_t i = 0; i < threads.count && i < THREADS_AT_ONCE; i++)
		look_at(target, threads.tids[confined->next++ % threads.count]);
	thread_set_destroy(&threads);
	return !confined->later;
}
