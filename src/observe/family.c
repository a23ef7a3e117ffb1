/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/family.h"

#include "base/syscall.h"
#include "process/children.h"
#include "process/stat_file.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#define PROCESSES_MAX 4096
#define START_LOOKS 50	      /* … */
#define START_LOOK_NS 2000000 /* … in between */

/*
 * The kernel puts the first stack of a program somewhere else at each execve(2), and a fork leaves
 * it where it is. So that address tells a fork from a program that was executed since, and from
 * another process that was given the number of one that has ended.
 */
static bool thread_is_kin(const struct family *family, pid_t pid, pid_t tid)
{
	return family->main_start &&
	       stat_file_number(pid, tid, STAT_STARTSTACK) == family->main_start;
}

static bool is_kin(const struct family *family, pid_t pid)
{
	return thread_is_kin(family, pid, 0);
}

/* While execve(2) puts a new program together there is no stack yet, and no names. It takes some
 * milliseconds; of what is ending, and of who may not be looked at, there is none either. */
static uint64_t wait_for_start(pid_t pid)
{
	const struct timespec pause = {0, START_LOOK_NS};
	uint64_t start = stat_file_number(pid, 0, STAT_STARTSTACK);

	for (int i = 0; i < START_LOOKS && !start; i++) {
		nanosleep(&pause, NULL);
		start = stat_file_number(pid, 0, STAT_STARTSTACK);
	}
	return start;
}

int family_begin(struct family *family, pid_t pid, bool children)
{
	*family = (struct family){.main_start = wait_for_start(pid)};
	family->children = children && family->main_start;
	return thread_set_add(&family->processes, pid);
}

void family_end(struct family *family)
{
	thread_set_destroy(&family->processes);
}

static void forget_strangers(struct family *family)
{
	struct thread_set *processes = &family->processes;

	for (size_t i = 1; i < processes->count;) {
		if (is_kin(family, processes->tids[i]))
			i++;
		else
			processes->tids[i] = processes->tids[--processes->count];
	}
}

static void add_children(struct family *family, pid_t pid)
{
	struct thread_set found = {0};

	children_list(&found, pid, CHILDREN_ALL_THREADS);
	for (size_t i = 0; i < found.count && family->processes.count < PROCESSES_MAX; i++)
		if (!thread_set_contains(&family->processes, found.tids[i]) &&
		    is_kin(family, found.tids[i]))
			thread_set_add(&family->processes, found.tids[i]);
	thread_set_destroy(&found);
}

void family_look(struct family *family)
{
	if (!family->children)
		return;
	forget_strangers(family);
	/* Those that are found are looked at in turn. */
	for (size_t i = 0; i < family->processes.count; i++)
		add_children(family, family->processes.tids[i]);
}

bool family_has(const struct family *family, pid_t pid, pid_t tid)
{
	long err = raw_syscall3(SYS_tgkill, pid, tid, 0);

	/* EPERM: the kernel looks whose thread it is before it looks who may send a signal. */
	if (err && err != -EPERM && err != -EACCES)
		return false;
	/* Its own: nothing is told of a first thread that has ended. */
	return !family->main_start || thread_is_kin(family, pid, tid);
}

bool family_is_lost(const struct family *family)
{
	uint64_t now = stat_file_number(family->processes.tids[0], 0, STAT_STARTSTACK);

	/* None: it is ending. */
	return family->main_start && now && now != family->main_start;
}

bool family_is_itself(const struct family *family)
{
	return stat_file_number(family->processes.tids[0], 0, STAT_STARTSTACK) ==
	       family->main_start;
}

void family_each_thread(const struct family *family, family_fn *each, void *context)
{
	for (size_t i = 0; i < family->processes.count; i++) {
		pid_t pid = family->processes.tids[i];
		struct thread_set threads = {0};

		thread_set_list(&threads, pid);
		for (size_t j = 0; j < threads.count; j++)
			each(context, pid, threads.tids[j]);
		thread_set_destroy(&threads);
	}
}
