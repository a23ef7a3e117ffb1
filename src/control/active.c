/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Among a great many threads most wait. To arm an inherited event interrupts a CPU for each thread,
 * sleeping ones too: with a thousand a single watch takes as long as a hundred would in the few
 * that run. So where few of many ran lately, the slots are opened in these alone, with some others
 * at random, since who slept may wake.
 *
 * Who ran is told by the kernel's count of a thread's time slices, looked at now and then; a thread
 * that a clock sample shows is added at once. What is lost: hits of threads that wake meanwhile.
 */
#include "control/private.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MANY_THREADS 64 /* with fewer all are watched */
#define FEW_PARTS 4	/* of all threads, the few are at most this part */
#define GUESTS 4	/* others at random */
#define DEAR (200000u)	/* ns to arm: before that nobody counts threads */
#define LOOKS_SOON 5	/* since what arming all costs is soon more than these do */
#define LOOK_INTERVAL_SOON (200 * MILLISECOND)
#define LOOKS_LEAST (4 * SECOND) /* between two later ones … */
#define LOOK_SHARE 500		 /* … and of the time at most this part */
#define THREADS_MAX 65536

struct active_thread {
	pid_t tid;
	uint64_t slices; /* of time that it has been given */
};

static bool read_slices(int directory, const char *name, uint64_t *slices)
{
	char path[280], text[96];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "%s/schedstat", name);
	fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (length <= 0)
		return false;
	text[length] = '\0';
	return sscanf(text, "%*u %*u %lu", slices) == 1;
}

/* The kernel lists threads in an order that seldom changes: look from the last match on. */
static const struct active_thread *find(const struct active *active, pid_t tid, size_t *from)
{
	for (size_t i = 0; i < active->known_count; i++) {
		size_t at = (*from + i) % active->known_count;

		if (active->known[at].tid == tid) {
			*from = at + 1;
			return &active->known[at];
		}
	}
	return NULL;
}

static bool contains(const struct active *active, pid_t tid)
{
	for (unsigned i = 0; i < active->count; i++)
		if (active->tid[i] == tid)
			return true;
	return false;
}

static void add(struct active *active, pid_t tid)
{
	if (!contains(active, tid) && active->count < ACTIVE_MAX)
		active->tid[active->count++] = tid;
}

struct scan {
	struct active_thread *thread;
	size_t count, capacity;
	size_t ran;
};

static bool note_thread(struct scan *scan, pid_t tid, uint64_t slices)
{
	if (scan->count == scan->capacity) {
		size_t capacity = scan->capacity ? 2 * scan->capacity : 256;
		struct active_thread *grown =
			realloc(scan->thread, capacity * sizeof(*scan->thread));

		if (!grown)
			return false;
		scan->thread = grown;
		scan->capacity = capacity;
	}
	scan->thread[scan->count++] = (struct active_thread){tid, slices};
	return true;
}

/* Adds those that ran since the last scan to `active`, which is empty. */
static bool scan_threads(struct target *target, struct active *active, struct scan *scan)
{
	char path[64];
	struct dirent *entry;
	DIR *directory;
	size_t from = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)target->pid);
	directory = opendir(path);
	if (!directory)
		return false;
	while ((entry = readdir(directory)) && scan->count < THREADS_MAX) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		const struct active_thread *known;
		uint64_t slices;

		if (!tid || !read_slices(dirfd(directory), entry->d_name, &slices))
			continue;
		known = find(active, tid, &from);
		if (!known || known->slices != slices) {
			add(active, tid);
			scan->ran++;
		}
		if (!note_thread(scan, tid, slices))
			break;
	}
	closedir(directory);
	return true;
}

static void invite_guests(struct control *control, struct active *active, const struct scan *scan)
{
	for (int i = 0; i < GUESTS && scan->count; i++)
		add(active, scan->thread[control_random(control) % scan->count].tid);
}

static void conclude(struct target *target, struct scan *scan)
{
	struct active *active = &target->active;
	bool compared = active->known_count > 0;
	bool was_few = active->few;

	active->few = compared && scan->count >= MANY_THREADS && scan->ran + GUESTS <= ACTIVE_MAX &&
		      scan->ran * FEW_PARTS <= scan->count;
	if (active->few)
		invite_guests(target->control, active, scan);
	if (active->few || was_few)
		active->version++;
	free(active->known);
	active->known = scan->thread;
	active->known_count = scan->count;
}

void active_look(struct target *target, uint64_t now)
{
	struct active *active = &target->active;
	struct scan scan = {0};
	uint64_t took, pause;

	if (now < active->next_look || (!active->few && target->arm_time < DEAR))
		return;
	active->count = 0;
	if (scan_threads(target, active, &scan))
		conclude(target, &scan);
	took = control_now() - now;
	pause = took * LOOK_SHARE > LOOKS_LEAST ? took * LOOK_SHARE : LOOKS_LEAST;
	active->next_look = now + (active->looks++ < LOOKS_SOON ? LOOK_INTERVAL_SOON : pause);
}

void active_note(struct target *target, pid_t tid)
{
	struct active *active = &target->active;

	if (!active->few || contains(active, tid) || active->count == ACTIVE_MAX)
		return;
	add(active, tid);
	active->version++;
}

void active_forget(struct target *target)
{
	free(target->active.known);
	target->active = (struct active){0};
}
