/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/asleep.h"

#include "base/clock.h"
#include "process/sleeper.h"
#include "stack/owner.h"

#define FRAMES 32
#define PAUSE (50 * MILLISECOND)
#define PAUSE_LATER (1000 * MILLISECOND) /* after LOOKS_EARLY */
#define LOOKS_EARLY 20

struct search {
	pid_t pid, tid;
	unsigned before; /* threads that come before the one whose turn it is */
	struct thread_sleep sleep;
	bool found;
};

static bool try_thread(void *context, pid_t tid)
{
	struct search *search = context;

	if (search->before) {
		search->before--;
		return false;
	}
	search->tid = tid;
	search->found = thread_status_sleep(search->pid, tid, &search->sleep);
	return true;
}

void asleep_look(struct process *process, struct space *space, uint64_t now)
{
	static struct symbol_stack_frame frames[FRAMES]; /* one thread; large */
	struct search search = {.pid = process->pid, .before = process->asleep_turn};
	size_t count;

	if (now < process->asleep_next)
		return;
	process->asleep_next = now + (process->asleep_looks++ < LOOKS_EARLY ? PAUSE : PAUSE_LATER);
	process->asleep_turn++;
	thread_status_each(process->pid, OWNER_THREADS, try_thread, &search);
	if (!search.tid)
		process->asleep_turn = 0;
	if (!search.found)
		return;
	count = sleeper_unwind(space, process->pid, &search.sleep, frames, FRAMES);
	for (size_t i = 0; i < count; i++)
		if (!space_is_libc(space, frames[i].pc))
			functions_use(process->functions, space, frames[i].pc);
}
