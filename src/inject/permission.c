/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/permission.h"

#include "event/perf.h"
#include "event/threads.h"
#include "inject/filters.h"
#include "inject/frozen.h"
#include "inject/masks.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <trapline/error.h>
#include <trapline/event.h>
#include <unistd.h>

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

static int ptrace_scope(void)
{
	return read_number("/proc/sys/kernel/yama/ptrace_scope");
}

int permission_explain_scope(struct inject_reason *reason, pid_t pid, int err, int scope)
{
	struct status status;
	bool is_shown = !status_read(pid, &status);

	/* The kernel permits nothing on a process that is ending, and it may have begun to end
	 * since. */
	if (status_is_ending(pid) || (!is_shown && kill(pid, 0) < 0 && errno == ESRCH))
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

/* One of the process's own limits stands in the way. */
static int explain_limit(struct inject_reason *reason, pid_t pid, int err)
{
	if (err == -EMFILE)
		return permission_refuse(
			reason, err,
			"process %d may open no more files, and takes three for a moment: "
			"`prlimit --nofile=LIMIT --pid %d` gives it more",
			(int)pid, (int)pid);
	return permission_refuse(
		reason, err,
		"process %d gets no memory for trapline's handler: its address space or its "
		"data is limited (`prlimit --pid %d`), it has too many mappings "
		"(vm.max_map_count), or the machine has no more",
		(int)pid, (int)pid);
}

int permission_explain(struct inject_reason *reason, pid_t pid, int err)
{
	switch (err) {
	case -ESRCH:
		return permission_refuse(reason, err,
					 "there is no process %d, or it has just ended", (int)pid);
	case -EPERM:
	case -EACCES:
		return permission_explain_scope(reason, pid, err, ptrace_scope());
	case -EAGAIN:
		return permission_refuse(
			reason, err,
			"process %d was starting another program or being stopped: try again",
			(int)pid);
	case -ETIMEDOUT:
		return permission_refuse(
			reason, err,
			"process %d does not come to a stop: it waits for a device, a file system "
			"or a child of vfork(2) (state D), or gets no CPU; try again when that is "
			"over",
			(int)pid);
	case -ENOENT:
		return permission_refuse(
			reason, err,
			"process %d has no code that makes system calls, as while it begins "
			"another program: try again",
			(int)pid);
	case -ENOEXEC:
		return permission_refuse(
			reason, err,
			"process %d runs 32-bit code, which trapline cannot look at: use a 64-bit "
			"build of it",
			(int)pid);
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
	case -EMFILE:
	case -ENOMEM:
		return explain_limit(reason, pid, err);
	default:
		return permission_refuse(reason, err, "process %d cannot be entered: %s", (int)pid,
					 strerror(-err));
	}
}

/* Can this process open events at all? In itself only the machine's rules can forbid it. */
static int check_events(struct inject_reason *reason)
{
	static long watched;
	const struct perf_request request = {.addr = (uintptr_t)&watched,
					     .length = sizeof(watched),
					     .access = TL_WRITE,
					     .signal = true,
					     .disabled = true};
	int fd = perf_open(&request, 0);

	if (fd >= 0)
		close(fd);
	if (fd != -EACCES && fd != -EPERM && fd != -ENOSYS)
		return 0;
	return permission_refuse(reason, fd, "no event may be opened: %s", tl_explain(fd));
}

int permission_explain_events(struct inject_reason *reason, pid_t pid, int err)
{
	int general = check_events(reason);

	if (general)
		return general;
	if (err == -EPERM || err == -EACCES)
		return permission_explain_scope(reason, pid, err, 0);
	return permission_explain(reason, pid, err);
}

/* The program is what /proc/PID/exe leads to, in whatever mount namespace. */
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

/* No event is opened in threads that have SIGTRAP blocked (inject_look()); some thread is to be
 * left. */
static int check_masks(struct inject_reason *reason, pid_t pid)
{
	switch (masks_look(pid)) {
	case MASKS_BLOCKED:
		return permission_refuse(
			reason, -EBUSY,
			"every thread of process %d blocks SIGTRAP, so hits cannot be told: "
			"start the program under trapline, which keeps blocked signals apart",
			(int)pid);
	case MASKS_MOMENT:
		return permission_refuse(
			reason, -EAGAIN,
			"process %d forks or creates a thread, for which its C library has blocked "
			"all signals, and does not go on: try again",
			(int)pid);
	case MASKS_ENDED:
		return permission_explain(reason, pid, -ESRCH);
	default:
		return 0;
	}
}

static bool has_other_threads(pid_t pid)
{
	struct thread_set threads = {0};
	bool others = !thread_set_list(&threads, pid) && threads.count > 1;

	thread_set_destroy(&threads);
	return others;
}

static int check_thread(struct inject_reason *reason, pid_t pid, const struct status *status)
{
	if (status->tgid == pid)
		return 0;
	return permission_refuse(reason, -EINVAL, "%d is a thread of process %d: give the process",
				 (int)pid, (int)status->tgid);
}

static int check_end(struct inject_reason *reason, pid_t pid, const struct status *status)
{
	if (status->state != 'Z' && status->state != 'X')
		return 0;
	if (has_other_threads(pid))
		return permission_refuse(
			reason, -EBUSY,
			"the first thread of process %d (%s) has ended before the others, and "
			"the process can be looked at only through it: start it under trapline",
			(int)pid, status->name);
	return permission_refuse(reason, -ESRCH, "process %d (%s) has ended", (int)pid,
				 status->name);
}

static int check_stop(struct inject_reason *reason, pid_t pid, const struct status *status)
{
	if (status->state != 'T')
		return 0;
	return permission_refuse(reason, -EAGAIN,
				 "process %d (%s) is stopped: `kill -CONT %d` first", (int)pid,
				 status->name, (int)pid);
}

/* A frozen process makes no call for us, and whoever thaws it would find it with our registers. */
static int check_frozen(struct inject_reason *reason, pid_t pid, const struct status *status)
{
	char thaw[INJECT_REASON / 2];

	if (!frozen_is(pid, thaw, sizeof(thaw)))
		return 0;
	return permission_refuse(reason, -EAGAIN,
				 "process %d (%s) is frozen with its control group: `%s` first",
				 (int)pid, status->name, thaw);
}

/* A child that still has its parent's memory would leave in the parent what is put there. */
static int check_memory(struct inject_reason *reason, pid_t pid, const struct status *status)
{
	if (!status_borrows_memory(pid, status))
		return 0;
	return permission_refuse(
		reason, -EAGAIN,
		"process %d (%s) runs in the memory of process %d, as between vfork(2) and "
		"execve(2): give that one, or try again",
		(int)pid, status->name, (int)status->parent);
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
	err = check_thread(reason, pid, status);
	if (!err)
		err = check_events(reason);
	if (err)
		return err;
	if (pid == getpid())
		return permission_refuse(reason, -EINVAL, "process %d is this very trapline",
					 (int)pid);
	if (status->tracer)
		return permission_explain_scope(reason, pid, -EPERM, ptrace_scope());
	err = check_end(reason, pid, status);
	if (!err)
		err = check_stop(reason, pid, status);
	if (!err)
		err = check_program(reason, pid);
	if (!err)
		err = check_memory(reason, pid, status);
	if (!err)
		err = check_frozen(reason, pid, status);
	if (err)
		return err;
	if (status->seccomp == SECCOMP_MODE_STRICT)
		return permission_refuse(
			reason, -EPERM,
			"process %d (%s) is under strict seccomp: it may make no call "
			"that would be needed",
			(int)pid, status->name);
	if (status_may_call(pid) == STATUS_CALLS_NONE && !filters_are_shown()) {
		/* Nothing can be read: the process has ended meanwhile. */
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

int permission_check_process(struct inject_reason *reason, pid_t pid)
{
	struct status status;
	int err = status_read(pid, &status);

	if (err)
		return permission_explain(reason, pid, -ESRCH);
	err = check_thread(reason, pid, &status);
	if (!err)
		err = check_end(reason, pid, &status);
	if (!err)
		err = check_program(reason, pid);
	return err == -EACCES || err == -EPERM ? 0 : err;
}
