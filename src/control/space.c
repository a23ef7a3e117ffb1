/* SPDX-License-Identifier: Apache-2.0 */
#include "control/space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

struct range {
	uint64_t start, end;
	bool writable, executable;
	char *path;
};

struct space {
	pid_t pid;
	struct range *ranges;
	size_t count, capacity;
	uint64_t read_time;
};

#define REFRESH_NS 200000000u

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void clear(struct space *space)
{
	for (size_t i = 0; i < space->count; i++)
		free(space->ranges[i].path);
	space->count = 0;
}

static void refresh(struct space *space)
{
	char name[64], line[4400];
	FILE *file;

	clear(space);
	space->read_time = now_ns();
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)space->pid);
	file = fopen(name, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		struct range range = {0};
		char access[5], path[4100] = "";

		if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %4099[^\n]", &range.start, &range.end,
			   access, path) < 3)
			continue;
		range.writable = access[1] == 'w';
		range.executable = access[2] == 'x';
		range.path = strdup(path);
		if (space->count == space->capacity) {
			space->capacity = space->capacity ? 2 * space->capacity : 64;
			space->ranges = realloc(space->ranges,
						space->capacity * sizeof(*space->ranges));
		}
		space->ranges[space->count++] = range;
	}
	fclose(file);
}

static const struct range *find(struct space *space, uint64_t address)
{
	for (int pass = 0; pass < 2; pass++) {
		size_t low = 0, high = space->count;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (address >= space->ranges[middle].end)
				low = middle + 1;
			else if (address < space->ranges[middle].start)
				high = middle;
			else
				return &space->ranges[middle];
		}
		if (now_ns() - space->read_time < REFRESH_NS)
			return NULL;
		refresh(space);
	}
	return NULL;
}

int space_open(struct space **space, pid_t pid)
{
	*space = calloc(1, sizeof(**space));
	if (!*space)
		return -ENOMEM;
	(*space)->pid = pid;
	refresh(*space);
	return 0;
}

void space_close(struct space *space)
{
	if (!space)
		return;
	clear(space);
	free(space->ranges);
	free(space);
}

ssize_t space_read(struct space *space, uint64_t address, void *to, size_t length)
{
	struct iovec local = {to, length};
	struct iovec remote = {(void *)address, length};
	ssize_t count = process_vm_readv(space->pid, &local, 1, &remote, 1, 0);

	return count < 0 ? -errno : count;
}

size_t space_code(struct space *space, uint64_t pc, uint8_t *to, size_t length)
{
	ssize_t count = space_read(space, pc, to, length);

	return count < 0 ? 0 : (size_t)count;
}

bool space_writable(struct space *space, uint64_t address)
{
	const struct range *range = find(space, address);

	return range && range->writable;
}

bool space_mapping(struct space *space, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct range *range = find(space, address);

	if (!range)
		return false;
	*start = range->start;
	*end = range->end;
	return true;
}

int space_function(struct space *space, uint64_t pc, uint64_t *start, uint64_t *end)
{
	(void)space;
	(void)pc;
	(void)start;
	(void)end;
	return -ENOENT;
}

const char *space_module(struct space *space, uint64_t pc)
{
	const struct range *range = find(space, pc);

	return range && range->executable && range->path[0] ? range->path : NULL;
}

static int read_for_insn(void *context, uint64_t address, void *to, size_t length)
{
	return space_read(context, address, to, length) == (ssize_t)length ? 0 : -EFAULT;
}

static int bounds_for_insn(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
	return space_function(context, pc, start, end);
}

struct insn_memory space_insn_memory(struct space *space)
{
	return (struct insn_memory){read_for_insn, bounds_for_insn, space};
}
