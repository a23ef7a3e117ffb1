/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trap in a thread that has SIGILL blocked ends the process (the kernel forces the signal; see
 * force_sig_info_to_task() in Linux, kernel/signal.c). So before a trap is written no thread may
 * have it blocked. A thread that runs with it blocked, as in a signal handler of the program, is
 * waited for, TIMEOUT_NS at most; one that sleeps with everything blocked, as in sigwait(3), for
 * SLEEPER_NS, after which the patcher goes on and counts it.
 *
 * Accepted loss: a thread that blocks SIGILL after it was looked at, or wakes up with it blocked,
 * and calls the old function in the microseconds in which its entry is a trap, ends the process.
 */
#include "patch/patch.h"

#include "base/counters.h"
#include "base/syscall.h"
#include "event/explain.h"
#include "event/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_NS 2000000000ull
#define SLEEPER_NS 20000000ull
#define STEP_NS 100000	 /* between two looks at the threads that are waited for */
#define STAT_LENGTH 1024 /* bytes: holds the fields up to the mask; a name has at most 64 */
#define FIELD_BLOCKED 32 /* of proc_pid_stat(5), where the state is field 3 */

enum verdict {
	DELIVERABLE,
	BLOCKED_ASLEEP,
	BLOCKED_RUNNING,
};

/* The file `stat` is read, which tells blocked signals up to 31 at half of what `status` costs, and
 * by a path from the directory of the threads, which the kernel walks faster than one from /. */
static bool read_stat(int tasks, pid_t tid, char text[STAT_LENGTH])
{
	char path[32];
	long got, fd;

	snprintf(path, sizeof(path), "%d/stat", tid);
	fd = raw_syscall6(SYS_openat, tasks, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return false;
	got = raw_syscall3(SYS_read, fd, (long)text, STAT_LENGTH - 1);
	raw_close((int)fd);
	text[got > 0 ? got : 0] = 0;
	return got > 0;
}

/* Skips `count` fields of the file `stat` behind the name, each of which ends at a space: a letter
 * and numbers. NULL: there are not so many. */
static const char *skip_fields(const char *at, int count)
{
	for (; at && count; count--) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at;
}

/* A thread that is gone, or whose file cannot be read, counts as DELIVERABLE. The name may hold
 * spaces and brackets, so the fields are counted from the last bracket. */
static enum verdict look_at(int tasks, pid_t tid)
{
	static const uint64_t needed = 1ull << (SIGILL - 1);
	char text[STAT_LENGTH];
	const char *blocked, *state;

	if (!read_stat(tasks, tid, text))
		return DELIVERABLE;
	state = strrchr(text, ')');
	if (!state || !state[1])
		return DELIVERABLE;
	state += 2;
	blocked = skip_fields(state, FIELD_BLOCKED - 3);
	if (!blocked || !(strtoull(blocked, NULL, 10) & needed))
		return DELIVERABLE;
	return *state == 'S' ? BLOCKED_ASLEEP : BLOCKED_RUNNING;
}

/* Leaves only those threads in the set that have the signal blocked. Returns the worst verdict. */
static enum verdict look_at_all(int tasks, struct thread_set *threads)
{
	enum verdict worst = DELIVERABLE;
	size_t kept = 0;

	for (size_t i = 0; i < threads->count; i++) {
		enum verdict verdict = look_at(tasks, threads->tids[i]);

		patch_pace();
		if (verdict == DELIVERABLE)
			continue;
		threads->tids[kept++] = threads->tids[i];
		worst = verdict > worst ? verdict : worst;
	}
	threads->count = kept;
	return worst;
}

static int wait_for(int tasks, struct thread_set *threads)
{
	uint64_t began = patch_now_ns();
	enum verdict worst;

	while ((worst = look_at_all(tasks, threads)) != DELIVERABLE) {
		uint64_t waited = patch_now_ns() - began;

		if (worst == BLOCKED_ASLEEP && waited > SLEEPER_NS)
			break;
		if (waited > TIMEOUT_NS)
			return explain_failure(
				-EBUSY, "a running thread has SIGILL blocked, so that a trap "
					"there would end the program; unblock it in all threads");
		raw_nanosleep(STEP_NS);
	}
	if (worst == BLOCKED_ASLEEP)
		counter_increment(COUNTER_PATCH_SLEEPERS);
	return 0;
}

int patch_wait_deliverable(void)
{
	/* Kept from one operation to the next, so that its memory need not be allocated again;
	 * under the lock of object.c. */
	static struct thread_set threads;
	int tasks = (int)raw_syscall6(SYS_openat, AT_FDCWD, (long)"/proc/self/task",
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	int err;

	threads.count = 0;
	err = tasks < 0 ? tasks : thread_set_list_paced(&threads, 0, patch_pace);
	if (!err)
		err = wait_for(tasks, &threads);
	if (tasks >= 0)
		raw_close(tasks);
	return err;
}
