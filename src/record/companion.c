/* SPDX-License-Identifier: Apache-2.0 */
#include "record/companion.h"

#include "base/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define AREA_FD (COMPANION_AREA[0] - '0')

static void give_up(struct area *area)
{
	area_close(area);
	raw_syscall3(SYS_exit_group, 127, 0, 0);
}

static void use_null(int fd, int flags)
{
	long null = raw_syscall6(SYS_openat, AT_FDCWD, (long)"/dev/null", flags, 0, 0, 0);

	if (null >= 0 && null != fd) {
		raw_syscall3(SYS_dup3, null, fd, 0);
		raw_close((int)null);
	}
}

/* Of the program's descriptors it keeps standard error, for what it finds. */
static void become(const struct companion *companion)
{
	uint64_t none = 0;

	use_null(0, O_RDONLY);
	use_null(1, O_WRONLY);
	if (raw_fcntl(2, F_GETFD, 0) < 0)
		use_null(2, O_WRONLY);
	if (companion->area_fd == AREA_FD)
		raw_fcntl(AREA_FD, F_SETFD, 0);
	else
		raw_syscall3(SYS_dup3, companion->area_fd, AREA_FD, 0);
	raw_syscall3(SYS_close_range, AREA_FD + 1, ~0u, 0);
	raw_sigprocmask(SIG_SETMASK, &none, NULL);
	raw_syscall3(SYS_execve, (long)companion->command, (long)companion->arguments,
		     (long)companion->environment);
	give_up(companion->area);
}

static bool inherits_orphans(void)
{
	int subreaper = 0;

	raw_syscall6(SYS_prctl, PR_GET_CHILD_SUBREAPER, (long)&subreaper, 0, 0, 0, 0);
	return subreaper || raw_getpid() == 1;
}

/* A raw fork(2): libc's would run the program's atfork handlers. */
static long fork_with(int exit_signal)
{
	return raw_syscall6(SYS_clone, exit_signal, 0, 0, 0, 0, 0);
}

static void run_intermediate(const struct companion *companion, bool stay)
{
	long pid;

	/* A filter may end whoever makes a new session: without a core file. execve(2) takes it
	 * back. */
	raw_syscall6(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0);
	raw_syscall3(SYS_setsid, 0, 0, 0);
	pid = fork_with(SIGCHLD);
	if (pid == 0)
		become(companion);
	if (pid < 0)
		give_up(companion->area);
	__atomic_store_n(&companion->area->controller, (pid_t)pid, __ATOMIC_RELAXED);
	if (stay) {
		raw_syscall3(SYS_close_range, 0, ~0u, 0);
		raw_syscall6(SYS_wait4, pid, 0, __WALL, 0, 0, 0);
	}
	raw_syscall3(SYS_exit_group, 0, 0, 0);
}

/* With every signal blocked, since the program's handlers must not run in the intermediate. */
int companion_start(const struct companion *companion)
{
	bool stay = inherits_orphans();
	int status = 0;
	uint64_t all = ~0ull, before;
	long pid;

	raw_sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork_with(0);
	if (pid == 0)
		run_intermediate(companion, stay);
	if (pid > 0 && !stay)
		raw_syscall6(SYS_wait4, pid, (long)&status, __WALL, 0, 0, 0);
	/* A filter may end whoever calls setsid(2). */
	if (status)
		area_close(companion->area);
	raw_sigprocmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? (int)pid : 0;
}
