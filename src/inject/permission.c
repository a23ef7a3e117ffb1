/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/permission.h"

#include "base/clock.h"
#include "event/threads.h"
#include "inject/filters.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MASK_LASTS (100 * MILLISECOND)
#define MASK_ROUNDS 5
#define MOMENT_MOST (2 * SECOND)
#define MOMENT_RAN                                                                     \
	5000000ul /* ns of CPU time; what libc does with all signals blocked takes µs \
		   */
#define WAITER_LOOKS 5
#define MASK_LOOK_NS 2000000

int permission_refuse(struct inject_reason *reason, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason->text, sizeof(reason->text), format, arguments);
	va_end(arguments);
	return err;
}

static int read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	int number = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%d", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

static int explain_permission(struct inject_reason *reason, pid_t pid, int err)
{
	int scope = read_number("/proc/sys/kernel/yama/ptrace_scope");
	struct status status;
	bool is_shown = !status_read(pid, &status);

	/* The kernel permits nothing of a process that is ending, and by now it has. */
	if (!is_shown && kill(pid, 0) < 0 && errno == ESRCH)
		return permission_explain(reason, pid, -ESRCH);
	if (!is_shown)
		return permission_refuse(
			reason, err,
			"process %d may not be looked at: /proc hides it (hidepid), "
			"be its user or root",
			(int)pid);
	if (status.tracer)
		return permission_refuse(
			reason, err,
			"process %d (%s) is traced by process %d already, a debugger "
			"perhaps: end that first",
			(int)pid, status.name, (int)status.tracer);
	if (geteuid() && status.uid != geteuid())
		return permission_refuse(
			reason, err,
			"process %d (%s) is user %u's: run trapline as that user, or "
			"as root",
			(int)pid, status.name, (unsigned)status.uid);
	if (scope >= 3)
		return permission_refuse(reason, err,
					 "kernel.yama.ptrace_scope is 3: nobody may attach to any "
					 "process until the machine is booted with another value");
	if (scope && geteuid())
		return permission_refuse(
			reason, err,
			"kernel.yama.ptrace_scope is %d: only root may attach to a process that "
			"runs already. Run trapline as root, or `sysctl kernel.yama.ptrace_scope=0`",
			scope);
	return permission_refuse(
		reason, err,
		"process %d (%s) may not be traced: it is not dumpable (it changed its user, or "
		"said so by prctl(2)), has capabilities that you have not, or is in another user "
		"namespace. Root with CAP_SYS_PTRACE may",
		(int)pid, status.name);
}

int permission_explain(struct inject_reason *reason, pid_t pid, int err)
{
	switch (err) {
	case -ESRCH:
		return permission_refuse(reason, err,
					 "there is no process %d, or it has just ended", (int)pid);
	case -EPERM:
	case -EACCES:
		return explain_permission(reason, pid, err);
	case -EAGAIN:
		return permission_refuse(
			reason, err,
			"process %d was starting another program or being stopped: try again",
			(int)pid);
	case -ETIMEDOUT:
		return permission_refuse(
			reason, err,
			"process %d does not come to a stop: it waits for a device or "
			"a file system (state D)",
			(int)pid);
	case -ENOEXEC:
		return permission_refuse(reason, err, "process %d runs 32-bit code", (int)pid);
	case -ECANCELED:
		return permission_refuse(
			reason, err,
			"process %d is under seccomp: a seccomp filter may kill it for a call made "
			"in its place; start it under trapline instead",
			(int)pid);
	case -EOPNOTSUPP:
		return permission_refuse(
			reason, err,
			"process %d takes its system calls itself (PR_SET_SYSCALL_USER_DISPATCH), as "
			"emulators do: hits would be told to it as calls of its own",
			(int)pid);
	default:
		return permission_refuse(reason, err, "process %d cannot be entered: %s", (int)pid,
					 strerror(-err));
	}
}

/* Whatever /proc/PID/exe leads to in its mount namespace. */
static int check_program(struct inject_reason *reason, pid_t pid)
{
	unsigned char ident[EI_NIDENT];
	ssize_t length;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return permission_refuse(
			reason, -ESRCH,
			"process %d has no program: it is a thread of the kernel's, or "
			"ending",
			(int)pid);
	if (fd < 0)
		return permission_explain(reason, pid, -errno);
	length = read(fd, ident, sizeof(ident));
	close(fd);
	if (length == sizeof(ident) && ident[EI_CLASS] == ELFCLASS32)
		return permission_explain(reason, pid, -ENOEXEC);
	return 0;
}

/* While it waits for signals they are not blocked, as the kernel shows it (do_sigtimedwait()). */
static bool waits_for_signals(pid_t pid, pid_t tid)
{
	struct sleeper sleeper;

	return !sleeper_read(pid, tid, &sleeper) &&
	       (sleeper.call == SYS_rt_sigtimedwait || sleeper.call == SYS_rt_sigsuspend);
}

/* Threads seen to wait for signals: one that has been woken and has no CPU yet looks as if it
 * blocked none. Accepted: a later thread of such an id is left alone too. */
static struct thread_set waiters;

/* Looked at before and after: it may run for a moment between two waits. */
struct inject_thread inject_look(pid_t pid, pid_t tid)
{
	struct inject_thread thread = {.seccomp = SECCOMP_MODE_DISABLED};
	struct status status;
	bool waits = waits_for_signals(pid, tid);

	thread.blocks = thread_set_contains(&waiters, tid);
	if (status_read(tid, &status))
		return thread;
	thread.seccomp = status.seccomp;
	thread.filters = status.filters;
	thread.handled = status.caught & STATUS_TRAP;
	waits = waits || waits_for_signals(pid, tid);
	if (waits)
		thread_set_add(&waiters, tid);
	thread.blocks |= waits || status.blocked & STATUS_TRAP;
	return thread;
}

struct inject_thread inject_look_at_seccomp(pid_t tid)
{
	struct inject_thread thread = {.seccomp = SECCOMP_MODE_DISABLED};

	status_seccomp(tid, &thread.seccomp, &thread.filters);
	return thread;
}

pid_t inject_id_inside(pid_t tid)
{
	struct status status;

	return status_read(tid, &status) ? 0 : status.inside;
}

/* Is it where libc has all signals blocked, and waits for a CPU or for memory? `ran`: its CPU time
 * when it was first looked at; without that nobody could tell how long it stays there. */
static bool is_in_moment(pid_t tid, uint64_t ran)
{
	struct status status;

	return ran != UINT64_MAX && !status_read(tid, &status) &&
	       (status.blocked & STATUS_LIBCS) == STATUS_LIBCS &&
	       (status.state == 'R' || status.state == 'D') && status_ran(tid) - ran < MOMENT_RAN;
}

/* All of them are looked at in each round, so that many take no longer than one. */
struct masks {
	pid_t pid;
	struct thread_set threads;
	uint64_t *ran; /* CPU time of each when it was first looked at */
};

static bool one_does_not_block(const struct masks *masks)
{
	bool open = false;

	for (size_t i = 0; i < masks->threads.count && !open; i++)
		open = !inject_look(masks->pid, masks->threads.tids[i]).blocks;
	return open;
}

static bool one_is_in_moment(const struct masks *masks)
{
	bool found = false;

	for (size_t i = 0; i < masks->threads.count && !found; i++)
		found = is_in_moment(masks->threads.tids[i], masks->ran[i]);
	return found;
}

/* Whoever creates a thread or forks blocks all signals for a moment: only what lasts counts. On a
 * busy machine that moment lasts until the thread, such as a child just forked, is given a CPU. */
static bool all_block(const struct masks *masks)
{
	const struct timespec pause = {0, MASK_LOOK_NS};
	const uint64_t begun = clock_now();
	uint64_t since = begun, now = begun;

	for (unsigned round = 0; round < MASK_ROUNDS || now - since < MASK_LASTS; round++) {
		if (one_does_not_block(masks))
			return false;
		now = clock_now();
		if (now - begun < MOMENT_MOST && one_is_in_moment(masks))
			since = now;
		nanosleep(&pause, NULL);
	}
	return true;
}

static bool some_thread_is_open(pid_t pid)
{
	const struct timespec pause = {0, MASK_LOOK_NS};
	struct masks masks = {.pid = pid};
	bool open;

	thread_set_list(&masks.threads, pid);
	for (int look = 0; look < WAITER_LOOKS; look++) {
		for (size_t i = 0; i < masks.threads.count; i++)
			inject_look(pid, masks.threads.tids[i]);
		nanosleep(&pause, NULL);
	}
	masks.ran = calloc(masks.threads.count + 1, sizeof(*masks.ran));
	for (size_t i = 0; masks.ran && i < masks.threads.count; i++)
		masks.ran[i] = status_ran(masks.threads.tids[i]);
	open = masks.ran && masks.threads.count && !all_block(&masks);
	free(masks.ran);
	thread_set_destroy(&masks.threads);
	return open;
}

/* No event is opened in threads that have SIGTRAP blocked (inject_look()); some thread is to be
 * left. */
static int check_masks(struct inject_reason *reason, pid_t pid)
{
	if (some_thread_is_open(pid))
		return 0;
	return permission_refuse(
		reason, -EBUSY,
		"every thread of process %d blocks SIGTRAP, so hits cannot be told: "
		"start the program under trapline, which keeps blocked signals apart",
		(int)pid);
}

static bool has_other_threads(pid_t pid)
{
	struct thread_set threads = {0};
	bool others = !thread_set_list(&threads, pid) && threads.count > 1;

	thread_set_destroy(&threads);
	return others;
}

static int check_state(struct inject_reason *reason, pid_t pid, const struct status *status)
{
	switch (status->state) {
	case 'Z':
	case 'X':
		if (has_other_threads(pid))
			return permission_refuse(
				reason, -EBUSY,
				"the first thread of process %d (%s) has ended before the others, and "
				"the process can be looked at only through it: start it under trapline",
				(int)pid, status->name);
		return permission_refuse(reason, -ESRCH, "process %d (%s) has ended", (int)pid,
					 status->name);
	case 'T':
		return permission_refuse(reason, -EAGAIN,
					 "process %d (%s) is stopped: `kill -CONT %d` first",
					 (int)pid, status->name, (int)pid);
	default:
		return 0;
	}
}

static int check_signal(struct inject_reason *reason, pid_t pid, const struct status *status)
{
	if (status->ignored & STATUS_TRAP)
		return permission_refuse(
			reason, -EBUSY,
			"process %d (%s) ignores SIGTRAP, which the programs that it starts would "
			"inherit no longer: start it under trapline",
			(int)pid, status->name);
	if ((status->pending | status->shared_pending) & STATUS_TRAP)
		return permission_refuse(reason, -EBUSY,
					 "process %d (%s) has a SIGTRAP waiting for it: try again",
					 (int)pid, status->name);
	return check_masks(reason, pid);
}

int permission_check(struct inject_reason *reason, pid_t pid, struct status *status)
{
	int err = status_read(pid, status);
	struct status now;

	if (err)
		return permission_explain(reason, pid, err);
	if (status->tgid != pid)
		return permission_refuse(reason, -EINVAL,
					 "%d is a thread of process %d: give the process", (int)pid,
					 (int)status->tgid);
	if (pid == getpid())
		return permission_refuse(reason, -EINVAL, "process %d is this very trapline",
					 (int)pid);
	if (status->tracer)
		return explain_permission(reason, pid, -EPERM);
	err = check_state(reason, pid, status);
	if (!err)
		err = check_program(reason, pid);
	if (err)
		return err;
	if (status->seccomp == SECCOMP_MODE_STRICT)
		return permission_refuse(
			reason, -EPERM,
			"process %d (%s) is under strict seccomp: it may make no call "
			"that would be needed",
			(int)pid, status->name);
	if (!status_may_call(pid) && !filters_are_shown()) {
		/* Nothing can be read of one that has ended meanwhile. */
		if (status_read(pid, &now))
			return permission_explain(reason, pid, -ESRCH);
		return permission_refuse(
			reason, -EPERM,
			"process %d (%s) has a seccomp filter that may kill it for a call made in "
			"its place, and only root may read it: run trapline as root, or start it "
			"under trapline",
			(int)pid, status->name);
	}
	return check_signal(reason, pid, status);
}
