/* SPDX-License-Identifier: Apache-2.0 */
/* Who allocates or frees a block, where and when: with the callers of libc's function. */
#include "agent/state.h"
#include "allocation/allocation.h"
#include "allocation/known_stacks.h"
#include "base/syscall.h"

#include <string.h>
#include <sys/prctl.h>

#define NAME_AGE 1000000u /* ns */

/*
 * The thread and its name. The name is asked for once a millisecond: a block that is remembered in
 * the one after a thread has changed its own may have the one before. A child has the name that it
 * had when it was forked, and a number of its own as soon as it is watched.
 */
static void note_thread(struct allocation_event *event)
{
	static __thread struct {
		uint64_t until; /* CLOCK_MONOTONIC ns */
		pid_t pid, tid;
		char name[ALLOCATION_NAME];
	} known __attribute__((tls_model("initial-exec")));
	const struct area_process *process = agent_state.process;
	pid_t pid = process ? process->pid : 0;

	if (!pid || known.pid != pid || event->time > known.until) {
		known.pid = pid;
		known.tid = raw_gettid();
		known.until = event->time + NAME_AGE;
		raw_syscall6(SYS_prctl, PR_GET_NAME, (long)known.name, 0, 0, 0, 0);
	}
	event->tid = known.tid;
	memcpy(event->thread, known.name, sizeof(known.name));
}

void allocation_note_event(struct allocation_event *event, const struct allocation_caller *caller,
			   uint64_t now)
{
	event->time = now;
	note_thread(event);
	known_stacks_walk(event, caller);
}
