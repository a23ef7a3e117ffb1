/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that started us for itself (src/agent/companion.c): it was running before, perhaps with
 * many threads, and is no child of ours. Its processes still announce themselves in the area, which
 * it made; we end when the last of them has.
 */
#include "control/entries.h"
#include "control/linger.h"
#include "control/private.h"

#include "event/threads.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#define ANNOUNCE_PATIENCE (20 * SECOND) /* for the first announcement */

bool is_attached(const struct control *control)
{
	return control->root != 0;
}

static void add_threads(struct control *control, pid_t pid, pid_t but)
{
	struct thread_set threads = {0};

	thread_set_list(&threads, pid);
	for (size_t i = 0; i < threads.count; i++)
		if (threads.tids[i] != but && samples_add(control->samples, threads.tids[i]))
			count_one(control, COUNT_THREADS_UNSAMPLED);
	thread_set_destroy(&threads);
}

void attach_samples(struct control *control, pid_t pid)
{
	if (control->samples || control->options.lasting ||
	    samples_open(&control->samples, pid, burst_period(control), false))
		return;
	add_threads(control, pid, pid);
}

void attach_samples_again(struct control *control)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = control->target[i];

		if (target && !control->samples)
			attach_samples(control, target->pid);
		else if (target)
			add_threads(control, target->pid, 0);
	}
}

unsigned attach_waiting(struct control *control)
{
	unsigned count = 0;

	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		count += control->target[i] || entry_is_wanted(control, i);
	return count;
}

bool attach_is_over(struct control *control)
{
	if (!control->welcomed && !area_is_closed(control->area))
		return control_now() - control->started > ANNOUNCE_PATIENCE ||
		       (kill(control->root, 0) && errno == ESRCH);
	return linger_is_over(control);
}
