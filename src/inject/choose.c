/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/choose.h"

#include "base/clock.h"
#include "event/threads.h"
#include "inject/again.h"
#include "inject/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_LOOKED_AT 64
#define PATIENCE (2 * SECOND)
#define LOOK_NS                                                                           \
	100000 /* a program that does nothing but start others runs about as long between \
		*/

/* Threads in calls that the kernel begins again by itself are best, then those in the program's
 * code, then those in calls that remote_end() repairs. */
static unsigned price_of_place(pid_t pid, pid_t tid)
{
	struct sleeper sleeper;

	if (sleeper_read(pid, tid, &sleeper))
		return 2;
	switch (sleeper.call) {
	case SYS_futex:
	case SYS_poll:
	case SYS_select:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_wait4:
	case SYS_pause:
		return 1;
	default:
		return again_may_begin(sleeper.call) ? 3 : 4;
	}
}

/*
 * Is it one that the process's signals are sent to, or those of its children's ends? What it
 * ignores is not ignored while it is traced: another thread would be woken for that, in a call
 * perhaps that then ends with EINTR (sig_ignored(), complete_signal() of kernel/signal.c).
 */
static bool receives_signals(pid_t pid, pid_t tid)
{
	char path[64], byte;
	ssize_t length = 0;
	int fd;

	if (tid == pid)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = read(fd, &byte, 1);
		close(fd);
	}
	return length > 0;
}

/* The lower the better. 0: the thread must not be stopped: nothing can wake it, it stands still
 * already, or it may make no call for us. */
static unsigned price_of(pid_t pid, pid_t tid)
{
	struct status status;

	if (status_read(tid, &status) || strchr("DTtZX", status.state))
		return 0;
	return price_of_place(pid, tid) + (receives_signals(pid, tid) ? 4 : 0);
}

/* False: the process has ended, or is about to. */
static bool goes_on(pid_t pid)
{
	struct status status;

	return !status_read(pid, &status) && !strchr("ZX", status.state);
}

pid_t choose_thread(pid_t pid)
{
	struct thread_set threads = {0};
	unsigned best = ~0u;
	pid_t chosen = 0;

	thread_set_list(&threads, pid);
	for (size_t i = 0; i < threads.count && i < THREADS_LOOKED_AT && best > 1; i++) {
		unsigned price = price_of(pid, threads.tids[i]);

		if (!price || price >= best)
			continue;
		best = price;
		chosen = threads.tids[i];
	}
	thread_set_destroy(&threads);
	return chosen;
}

int choose_some_thread(pid_t pid, pid_t *tid)
{
	const struct timespec pause = {0, LOOK_NS};
	const uint64_t until = clock_now() + PATIENCE;

	for (;;) {
		*tid = choose_thread(pid);
		if (*tid)
			return 0;
		if (!goes_on(pid))
			return -ESRCH;
		if (clock_now() > until)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}
