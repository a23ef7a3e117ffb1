/* SPDX-License-Identifier: Apache-2.0 */
#include "process/thread_status.h"

#include <stdio.h>
#include <string.h>

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

bool thread_status_slices(pid_t pid, pid_t tid, uint64_t *slices)
{
	char line[96];

	return read_line(pid, tid, "schedstat", line, sizeof(line)) &&
	       sscanf(line, "%*u %*u %lu", slices) == 1;
}
