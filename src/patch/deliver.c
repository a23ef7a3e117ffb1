/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trap in a thread that has SIGILL blocked ends the process (the kernel forces the signal; see
 * force_sig_info_to_task() in Linux, kernel/signal.c). So before a trap is written no thread may
 * have it blocked. One in a signal handler of the program is waited for; one that sleeps with
 * everything blocked, as a thread in sigwait(3), is let be after a moment.
 *
 * Accepted loss: a thread that blocks SIGILL, or wakes up with it blocked, and calls the old
 * function in the microseconds in which its entry is a trap.
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
#include <time.h>

#define TIMEOUT_NS 2000000000ull
#define SLEEPER_NS 20000000ull
#define STEP_NS 100000
#define STATUS_LENGTH 4096

enum verdict {
	DELIVERABLE,
	BLOCKED_ASLEEP,
	BLOCKED_RUNNING,
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool read_status(pid_t tid, char text[STATUS_LENGTH])
{
	char path[64];
	long got, fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	fd = raw_syscall3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	got = raw_syscall3(SYS_read, fd, (long)text, STATUS_LENGTH - 1);
	raw_close((int)fd);
	text[got > 0 ? got : 0] = 0;
	return got > 0;
}

/* proc_pid_status(5). A thread that is gone, or whose file cannot be read, is no obstacle. */
static enum verdict look_at(pid_t tid)
{
	static const uint64_t needed = 1ull << (SIGILL - 1);
	char text[STATUS_LENGTH];
	const char *blocked, *state;

	if (!read_status(tid, text))
		return DELIVERABLE;
	blocked = strstr(text, "\nSigBlk:\t");
	state = strstr(text, "\nState:\t");
	if (!blocked || !state || !(strtoull(blocked + 9, NULL, 16) & needed))
		return DELIVERABLE;
	return state[8] == 'S' ? BLOCKED_ASLEEP : BLOCKED_RUNNING;
}

/* Keeps those that block; returns the worst. */
static enum verdict look_at_all(struct thread_set *threads)
{
	enum verdict worst = DELIVERABLE;
	size_t kept = 0;

	for (size_t i = 0; i < threads->count; i++) {
		enum verdict verdict = look_at(threads->tids[i]);

		if (verdict == DELIVERABLE)
			continue;
		threads->tids[kept++] = threads->tids[i];
		worst = verdict > worst ? verdict : worst;
	}
	threads->count = kept;
	return worst;
}

int patch_wait_deliverable(void)
{
	uint64_t began = now_ns();
	struct thread_set threads = {0};
	enum verdict worst = DELIVERABLE;
	int err = thread_set_list(&threads, 0);

	while (!err && (worst = look_at_all(&threads)) != DELIVERABLE) {
		uint64_t waited = now_ns() - began;

		if (worst == BLOCKED_ASLEEP && waited > SLEEPER_NS)
			break;
		if (waited > TIMEOUT_NS)
			err = explain_failure(
				-EBUSY, "a running thread has SIGILL blocked, so that a trap "
					"there would end the program; unblock it in all threads");
		raw_nanosleep(STEP_NS);
	}
	if (!err && worst == BLOCKED_ASLEEP)
		counter_increment(COUNTER_PATCH_SLEEPERS);
	thread_set_destroy(&threads);
	return err;
}
