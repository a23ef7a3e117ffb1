/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No file records what is watched. A process that watches is a `trapline` that holds the descriptor
 * of an area which says so. The program can write into the area, so what stands there is only
 * shown; where more depends on it, /proc is asked.
 */
#include "cli/controllers.h"

#include "program/reach.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND 1000000000ll

static bool is_trapline(pid_t pid)
{
	char link[64], path[4096], *name;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	name = strrchr(path, '/');
	return name && (strcmp(name, "/trapline") == 0 || strcmp(name, "/trapline (deleted)") == 0);
}

static void read_command(pid_t pid, char *command, size_t size)
{
	size_t length = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "re");
	if (file) {
		length = fread(command, 1, size - 1, file);
		fclose(file);
	}
	while (length && !command[length - 1])
		length--;
	command[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (!command[i])
			command[i] = ' ';
}

/* Reads the parent and the start time, in clock ticks since the machine's start (proc(5), stat). */
static bool read_stat(pid_t pid, pid_t *parent, unsigned long long *start)
{
	char path[64], line[1024], *rest = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file))
		rest = strrchr(line, ')');
	if (file)
		fclose(file);
	return rest && sscanf(rest + 1,
			      " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			      "%*d %*d %llu",
			      parent, start) == 2;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

static time_t started(pid_t pid)
{
	unsigned long long start;
	pid_t parent;

	if (!read_stat(pid, &parent, &start))
		return 0;
	return (time_t)((clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
			 (int64_t)start * (SECOND / sysconf(_SC_CLK_TCK))) /
			SECOND);
}

static void read_watched(struct controller *controller, const struct area *area)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		pid_t pid = area->process[i].pid, parent;
		unsigned long long start;

		if (atomic_load(&area->process[i].state) != AREA_PROCESS_WATCHED ||
		    !read_stat(pid, &parent, &start))
			continue;
		controller->watched[controller->count++] = pid;
		controller->parent |= parent == controller->pid;
	}
}

static bool read_controller(pid_t pid, struct controller *controller)
{
	struct area *area;
	bool found;

	if (pid == getpid() || !is_trapline(pid) || reach_area(&area, pid))
		return false;
	*controller = (struct controller){.pid = pid};
	found = area->controller == pid;
	if (found) {
		read_watched(controller, area);
		read_command(pid, controller->command, sizeof(controller->command));
		controller->since = started(pid);
	}
	area_unmap(area);
	return found;
}

void controllers_each(controller_fn *each, void *context)
{
	DIR *list = opendir("/proc");
	struct controller controller;
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && read_controller(pid, &controller))
			each(context, &controller);
	}
	if (list)
		closedir(list);
}
