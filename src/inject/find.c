/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler whose controller died stays in the process, and lets everything pass. It is found by
 * its header, which says itself where everything is, whichever version it is of. What the process
 * wrote there may be nonsense: what is unmapped because of it was mapped where it says, and is its
 * own.
 */
#include "inject/inject.h"

#include "inject/memory.h"
#include "inject/permission.h"
#include "inject/status.h"

#include "base/syscall.h"
#include "record/area.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct search {
	pid_t pid;
	uint64_t start;
	struct injected_header header;
};

static bool is_plausible(const struct injected_header *header, uint64_t code)
{
	return header->magic == INJECTED_MAGIC && header->data == code &&
	       header->size > header->data && header->entry < header->data &&
	       header->state >= header->data && header->own >= header->data &&
	       header->state + sizeof(struct injected_state) <= header->size &&
	       header->own + sizeof(struct injected_own) <= header->size;
}

static int look_at(void *context, const struct mapping *mapping)
{
	struct search *search = context;

	if (!mapping->executable || mapping->writable || mapping->inode ||
	    memory_read(search->pid, mapping->start, &search->header, sizeof(search->header)) ||
	    !is_plausible(&search->header, mapping->end - mapping->start))
		return 0;
	search->start = mapping->start;
	return 1;
}

/* Does the controller live? The area's word says so (record/area.h). */
static bool controller_lives(pid_t pid, const struct injection *injection, pid_t controller)
{
	uint32_t life = 0;

	if (!injection->area ||
	    memory_read(pid, injection->area + offsetof(struct area, life), &life, sizeof(life)))
		return false;
	return !(life & AREA_CLOSED) && controller > 0 && controller != getpid() &&
	       (!kill(controller, 0) || errno == EPERM);
}

static uint64_t size_of_area(pid_t pid, uint64_t area)
{
	uint64_t magic = 0;
	uint32_t size = 0;

	if (!area || memory_read(pid, area, &magic, sizeof(magic)) || magic != AREA_MAGIC ||
	    memory_read(pid, area + offsetof(struct area, size), &size, sizeof(size)))
		return 0;
	return size;
}

static int find(pid_t pid, struct injection *injection, struct inject_reason *reason)
{
	struct search search = {.pid = pid};
	struct injected_state state;
	struct injected_own own;

	if (mappings_read(pid, look_at, &search) != 1)
		return 0;
	*injection = (struct injection){.pid = pid,
					.pidfd = injection->pidfd,
					.image = search.start,
					.size = search.header.size,
					.state = search.start + search.header.state,
					.own = search.start + search.header.own,
					.entry = search.start + search.header.entry};
	if (memory_read(pid, injection->state, &state, sizeof(state)) ||
	    memory_read(pid, injection->own, &own, sizeof(own)))
		return 0;
	injection->area_size = size_of_area(pid, state.area);
	injection->area = injection->area_size ? state.area : 0;
	if (controller_lives(pid, injection, (pid_t)own.controller))
		return permission_refuse(
			reason, -EBUSY,
			"process %d is watched by another trapline already (process %d): "
			"`kill %d` ends that",
			(int)pid, (int)own.controller, (int)own.controller);
	return 1;
}

/* Is the memory the parent's? What lies in it of ours is looked for there. */
static bool is_parents(pid_t pid)
{
	struct status status;

	return !status_read(pid, &status) && status_borrows_memory(pid, &status);
}

/* Held before it is looked at: what is left is what was looked at. */
int inject_find(pid_t pid, struct injection *injection, struct inject_reason *reason)
{
	int found;

	injection->pidfd = (int)raw_syscall3(SYS_pidfd_open, pid, 0, 0);
	if (injection->pidfd < 0)
		return 0;
	found = is_parents(pid) ? 0 : find(pid, injection, reason);
	if (found != 1)
		close(injection->pidfd);
	return found;
}
