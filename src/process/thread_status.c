/* SPDX-License-Identifier: Apache-2.0 */
#include "process/thread_status.h"

#include "base/proc_line.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_line(pid_t pid, pid_t tid, const char *name, char *line, size_t size)
{
	char path[64];
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fgets(line, (int)size, file);
	fclose(file);
	return read;
}

bool thread_status_is_there(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

bool thread_status_name(pid_t pid, pid_t tid, char *name, size_t size)
{
	memset(name, 0, size);
	if (!read_line(pid, tid, "comm", name, size))
		return false;
	name[strcspn(name, "\n")] = '\0';
	return true;
}

bool thread_status_sleep(pid_t pid, pid_t tid, struct thread_sleep *waiting)
{
	char line[256];

	/* "running", or the number, six arguments, stack pointer and pc. */
	return read_line(pid, tid, "syscall", line, sizeof(line)) &&
	       sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %lx %lx", &waiting->stack_pointer,
		      &waiting->pc) == 2;
}

bool thread_status_slices(pid_t pid, pid_t tid, struct thread_slices *slices)
{
	uint64_t ran, waited;
	char line[96];

	if (!read_line(pid, tid, "schedstat", line, sizeof(line)) ||
	    sscanf(line, "%lu %lu %lu", &ran, &waited, &slices->count) != 3)
		return false;
	slices->busy = ran + waited;
	return true;
}

bool thread_status_line(pid_t pid, pid_t tid, const char *key, char *line, size_t size)
{
	bool found = false;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	file = fopen(path, "re");
	while (file && !found && proc_line_next(file, line, size))
		found = strncmp(line, key, strlen(key)) == 0;
	if (file)
		fclose(file);
	return found;
}

bool thread_status_sleeps(pid_t pid, pid_t tid, uint64_t *sleeps)
{
	char line[128];

	return thread_status_line(pid, tid, "voluntary_ctxt_switches:", line, sizeof(line)) &&
	       sscanf(line, "voluntary_ctxt_switches: %lu", sleeps) == 1;
}

bool thread_status_each(pid_t pid, unsigned most, thread_status_fn *each, void *context)
{
	const struct dirent *entry;
	unsigned seen = 0;
	bool ended = false;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return false;
	while (!ended && seen < most && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		ended = each(context, tid);
		seen++;
	}
	closedir(tasks);
	return true;
}
