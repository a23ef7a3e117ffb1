/* SPDX-License-Identifier: Apache-2.0 */
#include "program/entries.h"

#include "base/syscall.h"
#include "base/clock.h"
#include "base/pidfd.h"
#include "process/identity.h"
#include "process/stat_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* An entry whose process is unknown is looked at after this many ns first … */
#define LOOK_FIRST (200 * MILLISECOND)
#define LOOK_LAST (10 * SECOND) /* … then after twice as many each time, up to this many */
/* How many ns a process that has claimed an entry may take to announce itself. */
#define CLAIM_PATIENCE (5 * SECOND)
#define LOOK_SHARE 50 /* looks through /proc take at most one part in this many of the time */

struct entry {
	/* The id, in its own namespace, of the process that had claimed the entry at the last
	 * look. */
	pid_t claimed;
	pid_t pid;		   /* its id in our namespace; 0: not known */
	int pidfd;		   /* -1: none */
	uint64_t next_look, pause; /* used while the entry's process is not known; ns */
	pid_t wanted;		   /* id of the process that wants it, announced or not, … */
	uint64_t wanted_since;	   /* … and when that was first seen */
};

struct entries {
	struct entry entry[AREA_PROCESSES];
	uint64_t next_search; /* CLOCK_MONOTONIC ns: /proc is not searched for any entry before */
	uint64_t began;	      /* start time of this process, STAT_STARTTIME */
};

int entries_create(struct program *program)
{
	program->entries = calloc(1, sizeof(*program->entries));
	if (!program->entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < AREA_PROCESSES; i++)
		program->entries->entry[i].pidfd = -1;
	program->entries->began = stat_file_number(getpid(), 0, STAT_STARTTIME);
	return 0;
}

static void forget(struct entry *entry)
{
	if (entry->pidfd >= 0)
		close(entry->pidfd);
	*entry = (struct entry){.pidfd = -1};
}

void entries_destroy(struct program *program)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++)
		forget(&program->entries->entry[i]);
	free(program->entries);
}

void entry_answer(struct area_process *shared, enum area_process_state state)
{
	atomic_store(&shared->state, state);
	raw_futex((uint32_t *)&shared->state, FUTEX_WAKE, INT_MAX, NULL);
}

void entry_answer_announced(struct area_process *shared)
{
	uint32_t announced = AREA_PROCESS_ANNOUNCED;

	if (atomic_compare_exchange_strong(&shared->state, &announced, AREA_PROCESS_WATCHED))
		raw_futex((uint32_t *)&shared->state, FUTEX_WAKE, INT_MAX, NULL);
}

void entry_know(struct program *program, uint32_t index, pid_t pid, int pidfd)
{
	struct entry *entry = &program->entries->entry[index];

	forget(entry);
	entry->claimed = program->area->process[index].pid;
	entry->pid = pid;
	entry->pidfd = pidfd;
}

/* The id is cleared last: another process may claim the entry as soon as it reads 0 there. The
 * release pairs with the acquire of the claim in contact/announce.c. */
void entry_release(struct program *program, uint32_t index)
{
	struct area_process *shared = &program->area->process[index];
	const struct entry *entry = &program->entries->entry[index];

	program->events->released(program, index, pidfd_has_ended(entry->pidfd));
	forget(&program->entries->entry[index]);
	entry_answer(shared, AREA_PROCESS_FREE);
	__atomic_store_n(&shared->pid, 0, __ATOMIC_RELEASE);
}

/* ---- has it ended? ------------------------------------------------------------------------ */

/* A process that began before we did is none of the program's, unless the program itself started us
 * (area->root). Such a one is met where entries give numbers of another pid namespace: its first
 * process has the number 1, as our namespace's first process has, which we often may not look
 * at. */
static bool may_be_ours(const struct program *program, pid_t pid)
{
	return program->area->root ||
	       stat_file_number(pid, 0, STAT_STARTTIME) >= program->entries->began;
}

/* Is it another process? False, too, where it may not be looked at: another user's process gets the
 * benefit of the doubt. */
static bool is_another(const struct program *program, pid_t pid)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH || !may_be_ours(program, pid);
	close(fd);
	return !process_maps(program->area_fd, pid);
}

/*
 * Looks once through /proc for all entries that are `due`, and clears the mark of each entry that
 * may belong to a process it meets, in whatever namespace.
 */
static void search(struct program *program, bool due[AREA_PROCESSES])
{
	DIR *directory = opendir("/proc");
	struct dirent *listed;

	errno = directory ? 0 : errno;
	while (directory && (listed = readdir(directory))) {
		pid_t pid = (pid_t)strtol(listed->d_name, NULL, 10);
		pid_t inside = pid > 0 ? process_name_inside(pid) : 0;

		/* The process's number in its own namespace cannot be read: it is taken to be the
		 * same as here. */
		if (!inside)
			inside = pid;
		for (uint32_t i = 0; inside > 0 && i < AREA_PROCESSES; i++)
			if (due[i] && program->entries->entry[i].claimed == inside &&
			    !is_another(program, pid))
				due[i] = false;
		errno = 0;
	}
	for (uint32_t i = 0; errno && i < AREA_PROCESSES; i++)
		due[i] = false;
	if (directory)
		closedir(directory);
}

/* Is it time to look for the process of this entry? Of such a process only the id is known that it
 * wrote into the entry. */
static bool is_due(struct entry *entry, pid_t claimed, uint64_t now)
{
	if (entry->claimed != claimed || !entry->pause) {
		entry->claimed = claimed;
		entry->pause = LOOK_FIRST;
		entry->next_look = now + entry->pause;
	}
	/* EPERM: it is another user's process, which /proc may hide from us; it is not looked
	 * for. */
	return now >= entry->next_look && (!kill(claimed, 0) || errno != EPERM);
}

static void put_off(struct entry *entry, uint64_t now)
{
	entry->pause = entry->pause * 2 < LOOK_LAST ? entry->pause * 2 : LOOK_LAST;
	entry->next_look = now + entry->pause;
}

/* ---- giving entries to others ------------------------------------------------------------- */

/*
 * Does the process still want the entry that it has claimed? Announcing takes it microseconds, and
 * answering takes us no longer than a turn of the loop. A process that has claimed an entry and
 * does not announce itself is stopped, or the claim names one that nobody may look at.
 */
static bool entry_is_wanted(struct program *program, uint32_t index)
{
	const struct area_process *shared = &program->area->process[index];
	struct entry *entry = &program->entries->entry[index];
	uint32_t state = atomic_load(&shared->state);
	pid_t pid = __atomic_load_n(&shared->pid, __ATOMIC_ACQUIRE);

	if (!pid || (state != AREA_PROCESS_CLAIMED && state != AREA_PROCESS_ANNOUNCED &&
		     state != AREA_PROCESS_LATE))
		return false;
	if (entry->wanted != pid || !entry->wanted_since) {
		entry->wanted = pid;
		entry->wanted_since = clock_now();
	}
	return clock_now() - entry->wanted_since < CLAIM_PATIENCE;
}

unsigned entries_waiting(struct program *program)
{
	unsigned count = 0;

	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		count += program->target[i] || entry_is_wanted(program, i);
	return count;
}

void entry_leave(struct program *program, uint32_t index)
{
	const struct entry *entry = &program->entries->entry[index];

	if (pidfd_has_ended(entry->pidfd))
		entry_release(program, index);
	else
		entry_answer(&program->area->process[index], AREA_PROCESS_LEFT);
}

pid_t entry_process(const struct program *program, uint32_t index)
{
	return program->entries->entry[index].pid;
}

/* Looks for the processes of entries that no pidfd is held of, and frees the entries of those that
 * do not exist. */
static void check_unknown(struct program *program, uint64_t now)
{
	struct entries *entries = program->entries;
	bool due[AREA_PROCESSES] = {false}, any = false;

	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		pid_t claimed = __atomic_load_n(&program->area->process[i].pid, __ATOMIC_ACQUIRE);

		due[i] = claimed && !program->target[i] && entries->entry[i].pidfd < 0 &&
			 is_due(&entries->entry[i], claimed, now);
		any |= due[i];
	}
	if (!any || now < entries->next_search)
		return;
	search(program, due);
	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		if (now >= entries->entry[i].next_look)
			put_off(&entries->entry[i], now);
		if (!due[i])
			continue;
		count_one(program, COUNT_ENTRIES_RECLAIMED);
		entry_release(program, i);
	}
	entries->next_search = now + (clock_now() - now) * LOOK_SHARE;
}

void entries_check(struct program *program)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		const struct entry *entry = &program->entries->entry[i];

		if (!program->target[i] && pidfd_has_ended(entry->pidfd))
			entry_release(program, i);
	}
	check_unknown(program, clock_now());
}

void entries_check_all(struct program *program)
{
	program->entries->next_search = 0;
	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		struct entry *entry = &program->entries->entry[i];

		entry->claimed = __atomic_load_n(&program->area->process[i].pid, __ATOMIC_ACQUIRE);
		entry->pause = LOOK_FIRST;
		entry->next_look = 0;
	}
	entries_check(program);
}

bool entries_are_scarce(const struct program *program)
{
	unsigned taken = 0;

	for (uint32_t i = 0; i < AREA_PROCESSES; i++)
		taken += program->area->process[i].pid != 0;
	return taken > AREA_PROCESSES / 2;
}
