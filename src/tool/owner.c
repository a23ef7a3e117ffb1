/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/owner.h"

#include "process/sleeper.h"

/* With more threads than this the search would cost more than a name is worth. */
#define THREADS_MAX 1024

/* Has the thread slept all the time between the two looks? It may wake meanwhile; frames that
 * are the same in both are right. */
static bool same_sleep(pid_t pid, pid_t tid, const struct thread_sleep *before)
{
	struct thread_sleep now;

	return thread_status_sleep(pid, tid, &now) && now.stack_pointer == before->stack_pointer &&
	       now.pc == before->pc;
}

static bool owns(struct space *space, pid_t pid, pid_t tid, uint64_t address,
		 struct thread_sleep *sleeper)
{
	uint64_t start, end;

	return thread_status_sleep(pid, tid, sleeper) && sleeper->stack_pointer <= address &&
	       space_mapping(space, sleeper->stack_pointer, &start, &end) && address < end;
}

struct search {
	struct space *space;
	pid_t pid;
	uint64_t address;
	struct symbol_stack_frame *frames;
	size_t max;
	struct symbol_thread *thread;
	bool found;
};

static bool try_thread(void *context, pid_t tid)
{
	struct search *search = context;
	struct thread_sleep sleeper;

	if (!owns(search->space, search->pid, tid, search->address, &sleeper))
		return false;
	*search->thread = (struct symbol_thread){
		.tid = tid, .stack_pointer = sleeper.stack_pointer, .frames = search->frames};
	search->thread->frame_count =
		sleeper_unwind(search->space, search->pid, &sleeper, search->frames, search->max);
	if (!same_sleep(search->pid, tid, &sleeper))
		search->thread->frame_count = 0;
	search->found = true;
	return true;
}

bool owner_find(struct space *space, pid_t pid, uint64_t address, struct symbol_stack_frame *frames,
		size_t max, struct symbol_thread *thread)
{
	struct search search = {space, pid, address, frames, max, thread, false};

	thread_status_each(pid, THREADS_MAX, try_thread, &search);
	return search.found;
}
