/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of leaving, after the last event is closed:
 *
 * 1. No signal of ours is on its way. One that was sent is seen as pending; one that the kernel has
 *    yet to send comes before its thread runs in user mode again, or is seen at a stop: so each
 *    thread that is not asleep is stopped once, shortly.
 * 2. One thread sets the program's own action again. No handler begins from here on.
 * 3. No thread is in the handler: none is counted there, none sleeps there, and none that is not
 *    asleep stands there when it is stopped.
 * 4. One thread unmaps the memory.
 *
 * Each wait is bounded. Where it ends in vain the handler stays as it is: it is complete, needs
 * nobody, and lets everything pass.
 */
#include "inject/inject.h"

#include "inject/apart.h"
#include "inject/memory.h"
#include "inject/permission.h"
#include "inject/remote.h"
#include "inject/rush.h"
#include "inject/status.h"
#include "inject/step.h"
#include "inject/vdso.h"

#include "base/perf_siginfo.h"
#include "event/threads.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOKS 400 /* looks until a wait is given up … */
/* … and ns between two of them: two seconds in all, which is longer than any hold */
#define LOOK_NS 5000000
#define SLEEP_LOOKS 5
#define SLEEP_LOOK_NS 200000

static bool lies_in(const struct injection *injection, uint64_t pc)
{
	return pc >= injection->image && pc < injection->image + injection->size;
}

/* Stops a running thread to see where it is. 0: not in the handler. */
static int look_at_running(struct injection *injection, pid_t tid)
{
	struct rush rush = rush_begin();
	struct remote remote;
	int err = remote_begin(&remote, REMOTE_PROCESS(injection), tid, 0);

	if (!err) {
		err = lies_in(injection, remote.registers.rip) ? -EBUSY : 0;
		step_note_stop(injection, remote_end(&remote));
	}
	rush_end(&rush);
	return err == -ESRCH ? 0 : err;
}

/* Most running threads sleep a moment later, and then need not be stopped. */
static int wait_for_sleep(pid_t pid, pid_t tid, struct sleeper *sleeper)
{
	const struct timespec pause = {0, SLEEP_LOOK_NS};
	int err = sleeper_read(pid, tid, sleeper);

	for (int i = 0; i < SLEEP_LOOKS && err == -EBUSY; i++) {
		nanosleep(&pause, NULL);
		err = sleeper_read(pid, tid, sleeper);
	}
	return err;
}

/* One of our signals waits in a thread that has blocked SIGTRAP since: it is taken out there. The
 * program's own is sent again. */
struct waiting {
	struct injection *injection;
	pid_t tid;
};

static int take_apart(void *context)
{
	const struct waiting *waiting = context;
	struct injection *injection = waiting->injection;
	const pid_t tid = waiting->tid;
	const uint64_t at = injection->own + offsetof(struct injected_own, room);
	const struct {
		uint64_t mask;
		struct timespec now;
	} arguments = {STATUS_TRAP, {0, 0}};
	const uint64_t info = at + sizeof(arguments);
	struct remote remote;
	struct vdso vdso;
	siginfo_t taken;
	long err = vdso_find(injection->pid, &vdso);
	struct rush rush = rush_begin();

	if (!err)
		err = remote_begin(&remote, REMOTE_PROCESS(injection), tid, vdso.call);
	if (!err) {
		err = memory_write(tid, at, &arguments, sizeof(arguments));
		if (!err)
			err = REMOTE_CALL(&remote, SYS_rt_sigtimedwait, at, info,
					  at + sizeof(uint64_t), sizeof(uint64_t));
		if (err == SIGTRAP && !memory_read(tid, info, &taken, sizeof(taken)) &&
		    taken.si_code != PERF_SIGINFO_CODE)
			REMOTE_CALL(&remote, SYS_rt_tgsigqueueinfo, (uint64_t)injection->pid,
				    (uint64_t)tid, SIGTRAP, info);
		step_note_stop(injection, remote_end(&remote));
	}
	rush_end(&rush);
	return err < 0 && err != -EAGAIN ? (int)err : 0;
}

static int take_waiting(struct injection *injection, pid_t tid)
{
	return apart_run(take_apart, &(struct waiting){injection, tid});
}

static int look_at(struct injection *injection, pid_t tid)
{
	struct sleeper sleeper;
	struct status status;
	int err = status_read(tid, &status);

	if (err)
		return err == -ESRCH ? 0 : err;
	if (status.pending & status.blocked & STATUS_TRAP)
		return take_waiting(injection, tid);
	if ((status.pending | status.shared_pending) & STATUS_TRAP)
		return -EBUSY;
	if (status.state == 'Z' || status.state == 'X')
		return 0;
	err = wait_for_sleep(injection->pid, tid, &sleeper);
	if (err == -EBUSY)
		return look_at_running(injection, tid);
	if (err)
		return err == -ESRCH ? 0 : err;
	return lies_in(injection, sleeper.pc) ? -EBUSY : 0;
}

static int look_at_all(struct injection *injection)
{
	struct thread_set threads = {0};
	int err = thread_set_list(&threads, injection->pid);

	for (size_t i = 0; i < threads.count && !err; i++)
		err = look_at(injection, threads.tids[i]);
	thread_set_destroy(&threads);
	return err;
}

static int handlers(const struct injection *injection)
{
	uint32_t entered = 0;
	int err = memory_read(injection->pid,
			      injection->own + offsetof(struct injected_own, entered), &entered,
			      sizeof(entered));

	return err ? err : entered ? -EBUSY : 0;
}

/* Waits until nothing of ours goes on in any thread. */
static int wait_until_idle(struct injection *injection)
{
	const struct timespec pause = {0, LOOK_NS};
	int err = -EBUSY;

	for (int i = 0; i < LOOKS && err == -EBUSY; i++) {
		if (i)
			nanosleep(&pause, NULL);
		err = handlers(injection);
		if (!err)
			err = look_at_all(injection);
	}
	return err;
}

/*
 * siginterrupt(3) takes the action that it finds, ours, and says of it that calls end: of the
 * program's own, then. Accepted: where it says that they go on, as ours always does, that is not
 * seen.
 */
static bool is_said_to_interrupt(const struct injection *injection, pid_t tid,
				 const struct injected_action *ours)
{
	const uint64_t at = injection->own + offsetof(struct injected_own, previous);
	struct injected_action previous;

	if (ours->flags & SA_RESTART || memory_read(tid, at, &previous, sizeof(previous)) ||
	    !(previous.flags & SA_RESTART))
		return false;
	previous.flags &= ~(uint64_t)SA_RESTART;
	return !memory_write(tid, at, &previous, sizeof(previous));
}

static int set_action(struct remote *remote, uint64_t action, uint64_t replaced)
{
	return (int)remote_call(remote, SYS_rt_sigaction,
				(const uint64_t[6]){SIGTRAP, action, replaced, sizeof(uint64_t)});
}

/* Sets the program's own action again, unless the program has set another one since. */
static int restore_action(struct injection *injection, struct remote *remote, void *context)
{
	const uint64_t at = injection->own + offsetof(struct injected_own, room);
	const uint64_t previous = injection->own + offsetof(struct injected_own, previous);
	struct injected_action action = {0};
	int err = set_action(remote, previous, at);

	(void)context;
	if (!err)
		err = memory_read(remote->tid, at, &action, sizeof(action));
	if (!err && action.handler != injection->entry)
		err = set_action(remote, at, 0);
	else if (!err && is_said_to_interrupt(injection, remote->tid, &action))
		err = set_action(remote, previous, 0);
	return err;
}

static int unmap_area(struct injection *injection, struct remote *remote, void *context)
{
	(void)context;
	return injection->area
		       ? (int)REMOTE_CALL(remote, SYS_munmap, injection->area, injection->area_size)
		       : 0;
}

static int unmap_image(struct injection *injection, struct remote *remote, void *context)
{
	(void)context;
	return (int)REMOTE_CALL(remote, SYS_munmap, injection->image, injection->size);
}

static void forget(struct injection *injection)
{
	if (injection->pidfd >= 0)
		close(injection->pidfd);
	injection->pidfd = -1;
	injection->image = injection->area = 0;
}

/* Not where the process has executed another program: nothing of ours came along, and what lies at
 * those addresses now is that program's. */
static bool is_there(const struct injection *injection)
{
	struct injected_header header;
	int err = memory_read(injection->pid, injection->image, &header, sizeof(header));

	return err ? err != -EFAULT : header.magic == INJECTED_MAGIC;
}

int inject_leave(struct injection *injection, struct inject_reason *reason)
{
	int err = is_there(injection) ? wait_until_idle(injection) : -ESTALE;

	if (!err)
		err = step_in_some_thread(injection, restore_action, NULL);
	if (!err)
		err = wait_until_idle(injection);
	if (!err)
		err = step_in_some_thread(injection, unmap_area, NULL);
	/* In a stop of its own, which is shorter than one for both. */
	if (!err)
		err = step_in_some_thread(injection, unmap_image, NULL);
	if (err == -EBUSY)
		permission_refuse(
			reason, err,
			"a thread of process %d is still in trapline's handler, which stays "
			"there and does nothing; attaching once more removes it",
			(int)injection->pid);
	else if (err == -ESTALE)
		permission_refuse(reason, err,
				  "process %d has executed another program, which is not watched",
				  (int)injection->pid);
	else if (err)
		err = permission_explain(reason, injection->pid, err);
	forget(injection);
	return err;
}

bool inject_is_in_place(pid_t pid)
{
	struct status status;

	return !status_read(pid, &status) && (status.caught & STATUS_TRAP);
}
