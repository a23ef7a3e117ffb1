/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/owner.h"

#include "process/thread_status.h"
#include "symbol/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* Beyond these the search costs more than a name is worth. */
#define THREADS_MAX 1024

static size_t unwind(struct space *space, pid_t pid, const struct thread_sleep *sleeper,
		     struct symbol_stack_frame *frames, size_t max)
{
	struct symbol_memory memory = symbol_memory_of_process(pid);
	struct symbol_stack_source source = {.memory = &memory};
	bool complete;

	symbol_register_set(&source.registers, SYMBOL_RSP, sleeper->stack_pointer);
	symbol_register_set(&source.registers, SYMBOL_PC, sleeper->pc);
	return symbol_stack_unwind(space_modules(space), &source, frames, max, &complete);
}

/* The thread may wake meanwhile; frames that were there before and after are right. */
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

static bool try_thread(struct space *space, pid_t pid, pid_t tid, uint64_t address,
		       struct symbol_stack_frame *frames, size_t max, struct symbol_thread *thread)
{
	struct thread_sleep sleeper;

	if (!owns(space, pid, tid, address, &sleeper))
		return false;
	*thread = (struct symbol_thread){.tid = tid, .stack_pointer = sleeper.stack_pointer};
	thread->frame_count = unwind(space, pid, &sleeper, frames, max);
	thread->frames = frames;
	if (!same_sleep(pid, tid, &sleeper))
		thread->frame_count = 0;
	return true;
}

bool owner_find(struct space *space, pid_t pid, uint64_t address, struct symbol_stack_frame *frames,
		size_t max, struct symbol_thread *thread)
{
	const struct dirent *entry;
	unsigned looked = 0;
	bool found = false;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && !found && looked++ < THREADS_MAX && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			found = try_thread(space, pid, (pid_t)strtol(entry->d_name, NULL, 10),
					   address, frames, max, thread);
	if (tasks)
		closedir(tasks);
	return found;
}
