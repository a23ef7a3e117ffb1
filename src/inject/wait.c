/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/wait.h"

#include "base/clock.h"
#include "inject/status.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool is_own_child(pid_t tid)
{
	struct status status;

	return !status_read(tid, &status) && status.tgid == tid && status.parent == getpid();
}

static bool is_end(const siginfo_t *info)
{
	return info->si_code == CLD_EXITED || info->si_code == CLD_KILLED ||
	       info->si_code == CLD_DUMPED;
}

pid_t wait_look(pid_t tid, int *status)
{
	siginfo_t info = {0};
	const int options = WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL;

	if (waitid(P_PID, (id_t)tid, &info, options))
		return -1;
	if (!info.si_pid)
		return 0;
	if (is_end(&info) && is_own_child(tid)) {
		errno = ESRCH;
		return -1;
	}
	return waitpid(tid, status, __WALL | WNOHANG);
}

int wait_for(pid_t tid, int *status, uint64_t bound, uint64_t spin)
{
	const uint64_t begin = clock_now(), until = begin + bound;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		struct timespec left = {0};
		pid_t found = wait_look(tid, status);
		uint64_t now = clock_now();

		if (found == tid)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		if (found < 0 && errno != EINTR)
			return -ESRCH;
		if (now >= until)
			return -ETIMEDOUT;
		if (now < begin + spin) {
			sched_yield();
			continue;
		}
		left.tv_sec = (time_t)((until - now) / SECOND);
		left.tv_nsec = (long)((until - now) % SECOND);
		sigtimedwait(&child, NULL, &left);
	}
}
