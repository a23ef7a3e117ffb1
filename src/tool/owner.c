/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/owner.h"

#include "symbol/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these the search costs more than a name is worth. */
#define THREADS_MAX 1024

struct sleeper {
	uint64_t stack_pointer, pc;
};

static bool read_sleeper(pid_t pid, pid_t tid, struct sleeper *sleeper)
{
	char path[64], line[256];
	const char *last, *before;
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fgets(line, sizeof(line), file);
	fclose(file);
	/* "running", or "NUMBER ARGUMENTS… STACK-POINTER PC" */
	last = read ? strrchr(line, ' ') : NULL;
	before = last ? memrchr(line, ' ', (size_t)(last - line)) : NULL;
	if (!before)
		return false;
	sleeper->stack_pointer = strtoull(before + 1, NULL, 16);
	sleeper->pc = strtoull(last + 1, NULL, 16);
	return sleeper->stack_pointer && sleeper->pc;
}

static size_t unwind(struct space *space, pid_t pid, const struct sleeper *sleeper,
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
static bool same_sleep(pid_t pid, pid_t tid, const struct sleeper *before)
{
	struct sleeper now;

	return read_sleeper(pid, tid, &now) && now.stack_pointer == before->stack_pointer &&
	       now.pc == before->pc;
}

static bool owns(struct space *space, pid_t pid, pid_t tid, uint64_t address,
		 struct sleeper *sleeper)
{
	uint64_t start, end;

	return read_sleeper(pid, tid, sleeper) && sleeper->stack_pointer <= address &&
	       space_mapping(space, sleeper->stack_pointer, &start, &end) && address < end;
}

static bool try_thread(struct space *space, pid_t pid, pid_t tid, uint64_t address,
		       struct symbol_stack_frame *frames, size_t max, struct symbol_thread *thread)
{
	struct sleeper sleeper;

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
