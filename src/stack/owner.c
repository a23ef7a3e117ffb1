/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/owner.h"

#include "process/thread_status.h"
#include "symbol/memory.h"
#include "symbol/stack.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES 128
#define STARTSTACK 28 /* the number of the field in /proc/PID/stat */

uint64_t owner_main_start(pid_t pid)
{
	char path[64], line[2048], *at;
	uint64_t start = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* The program's name, field 2, may hold anything but ends with the last bracket. */
	at = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	for (int field = 2; at && field < STARTSTACK; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoull(at + 1, NULL, 10);
	fclose(file);
	return start;
}

bool owner_exists(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

static bool verify(struct space *space, pid_t pid, pid_t tid, const struct thread_sleep *sleep,
		   uint64_t end, uint64_t main_start)
{
	static struct symbol_stack_frame frames[FRAMES]; /* one thread; large */
	static struct tl_frame_place places[FRAMES];
	struct symbol_memory memory = symbol_memory_of_process(pid);
	struct symbol_stack_source source = {.memory = &memory};
	/* Its own data lies at the very top of a thread's stack: the mapping's end is as good. */
	struct rules_base base = {.main = tid == pid, .start = main_start, .fs_base = end};
	bool complete;
	size_t count;

	symbol_register_set(&source.registers, SYMBOL_RSP, sleep->stack_pointer);
	symbol_register_set(&source.registers, SYMBOL_PC, sleep->pc);
	count = symbol_stack_unwind(space_modules(space), &source, frames, FRAMES, &complete);
	for (size_t i = 0; i < count; i++)
		places[i] = (struct tl_frame_place){.pc = frames[i].pc,
						    .cfa = frames[i].has_cfa ? frames[i].cfa : 0};
	/* The outermost frame may have no end: it has no caller. */
	while (count > 1 && !places[count - 1].cfa)
		count--;
	return rules_is_whole(places, (int)count, sleep->stack_pointer, &base);
}

static bool try_thread(struct space *space, pid_t pid, pid_t tid, uint64_t address,
		       uint64_t main_start, struct owner *owner)
{
	struct thread_sleep sleep;
	uint64_t start, end;

	if (!thread_status_sleep(pid, tid, &sleep) ||
	    !space_mapping(space, sleep.stack_pointer, &start, &end) || address < start ||
	    address >= end)
		return false;
	*owner = (struct owner){.tid = tid, .pointer = sleep.stack_pointer};
	owner->verified = verify(space, pid, tid, &sleep, end, main_start) &&
			  owner_still(pid, owner);
	return true;
}

bool owner_still(pid_t pid, const struct owner *owner)
{
	struct thread_sleep sleep;

	return thread_status_sleep(pid, owner->tid, &sleep) &&
	       sleep.stack_pointer == owner->pointer;
}

bool owner_find_asleep(struct space *space, pid_t pid, uint64_t address, pid_t except,
		       uint64_t main_start, struct owner *owner)
{
	const struct dirent *entry;
	unsigned looked = 0;
	bool found = false;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && !found && looked++ < OWNER_THREADS && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && tid != except)
			found = try_thread(space, pid, tid, address, main_start, owner);
	}
	if (tasks)
		closedir(tasks);
	return found;
}
