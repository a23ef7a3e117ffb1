/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/owner.h"

#include "base/clock.h"
#include "process/sleeper.h"
#include "process/stat_file.h"
#include "process/thread_pointer.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAMES 128

struct beginning {
	pid_t pid;
	uint64_t since; /* ticks of CLOCK_BOOTTIME */
	bool found;
};

static bool began_since(void *context, pid_t tid)
{
	struct beginning *beginning = context;

	beginning->found = stat_file_number(beginning->pid, tid, STAT_STARTTIME) >=
			   beginning->since;
	return beginning->found;
}

bool owner_began_since(pid_t pid, uint64_t time)
{
	uint64_t tick = SECOND / (uint64_t)sysconf(_SC_CLK_TCK), age = clock_now() - time;
	uint64_t then = clock_read(CLOCK_BOOTTIME) - age;
	struct beginning beginning = {pid, then / tick, false};

	return !thread_status_each(pid, OWNER_THREADS, began_since, &beginning) || beginning.found;
}

unsigned owner_threads(pid_t pid)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return stat(path, &status) || status.st_nlink < 2 ? 0 : (unsigned)status.st_nlink - 2;
}

bool owner_exists(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

bool owner_has_data(struct space *space, uint64_t fs_base)
{
	uint64_t word = 0;

	return fs_base &&
	       space_read(space, fs_base, &word, sizeof(word)) == (ssize_t)sizeof(word) &&
	       word == fs_base;
}

/* Do the sleeping thread's frames lead up to where its own stack begins? [start, end): the mapping
 * that its stack pointer is in. Accepted: where a C library does not show where a thread's own data
 * is, this is true of the first thread's stack at most. */
static bool verify(struct space *space, pid_t pid, pid_t tid, const struct thread_sleep *sleep,
		   uint64_t start, uint64_t end, uint64_t main_start)
{
	static struct symbol_stack_frame frames[FRAMES]; /* one thread; large */
	static struct tl_frame_place places[FRAMES];
	const uint64_t own = tid == pid ? 0 : thread_pointer(space, tid);
	struct rules_base base = {.mapping_start = start,
				  .mapping_end = end,
				  .main = tid == pid,
				  .start = main_start,
				  .fs_base = own,
				  .has_data = owner_has_data(space, own),
				  .guarded = space_guarded(space, sleep->stack_pointer)};
	size_t count = sleeper_unwind(space, pid, sleep, frames, FRAMES);

	for (size_t i = 0; i < count; i++)
		places[i] = (struct tl_frame_place){.pc = frames[i].pc,
						    .cfa = frames[i].has_cfa ? frames[i].cfa : 0};
	/* The outermost frame has no caller, and may have no frame address. */
	while (count > 1 && !places[count - 1].cfa)
		count--;
	return rules_is_whole(places, (int)count, sleep->stack_pointer, &base);
}

struct search {
	struct space *space;
	pid_t pid, except;
	uint64_t address, main_start;
	struct owner *owner;
	bool found;
};

static bool try_thread(void *context, pid_t tid)
{
	struct search *search = context;
	struct owner *owner = search->owner;
	struct thread_sleep sleep;
	uint64_t start, end;

	if (tid == search->except || !thread_status_sleep(search->pid, tid, &sleep) ||
	    !space_mapping(search->space, sleep.stack_pointer, &start, &end) ||
	    search->address < start || search->address >= end)
		return false;
	*owner = (struct owner){.tid = tid, .pointer = sleep.stack_pointer};
	owner->verified =
		verify(search->space, search->pid, tid, &sleep, start, end, search->main_start) &&
		owner_still(search->pid, owner);
	search->found = true;
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
	struct search search = {space, pid, except, address, main_start, owner, false};

	thread_status_each(pid, OWNER_THREADS, try_thread, &search);
	return search.found;
}
