/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening events in a program that may become another one at any moment.
 *
 * An event that is open when its process executes another program is removed by the kernel
 * (remove_on_exec). One opened afterwards would send SIGTRAP to a program that knows nothing of us.
 * So would one in a thread of another process: the kernel gives ids out anew, and a program may
 * write any id into the area. So each event is opened disabled, and enabled only if its thread
 * belongs to the process and the process was itself after that. The price is the race of clone(2)
 * with enabling that event/coverage.h tells of.
 */
#include "target/cover.h"

#include "base/clock.h"
#include "base/syscall.h"
#include "inject/inject.h"
#include "inject/masks.h"
#include "inject/stacks.h"
#include "target/target.h"
#include "record/held.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/uio.h>

#define DOUBTS_FIRST (100 * MILLISECOND) /* between two looks; doubled … */
#define DOUBTS_GROW 7			 /* … so many times */

static uint64_t same_for_all(void *context, unsigned root)
{
	(void)root;
	return *(const uint64_t *)context;
}

/* Threads that are created later inherit no event where each must be asked for its signal stack
 * first. */
struct coverage_target cover_threads(const struct target *target)
{
	const struct inject_stacks *stacks = target->stacks;
	struct coverage_target threads = {
		.pid = target->pid, .scope = TL_PROCESS, .best_effort = true};

	if (stacks && stacks->exposed) {
		threads.scope = TL_THREADS;
		threads.tids = stacks->roomy.tids;
		threads.ntids = stacks->roomy.count;
	}
	return threads;
}

/*
 * Is the process still itself? 0, or why not: -ESRCH when it is ending, -ENOEXEC when it has become
 * another program. Where its memory may not be read (by a policy of the system) that is not known:
 * events of a set-user-ID program may not be opened either.
 */
static int look_at_it(const struct target *target)
{
	uint64_t seen = 0;
	struct iovec local = {&seen, sizeof(seen)};
	struct iovec remote = {(void *)target->proof_address, sizeof(seen)};
	/* Read directly, since there is no `space` where limits alone are wanted. */
	ssize_t length = process_vm_readv(target->pid, &local, 1, &remote, 1, 0);

	if (target_has_ended(target) || (length < 0 && errno == ESRCH))
		return -ESRCH;
	if (length < 0)
		return errno == EPERM ? 0 : -ENOEXEC;
	return length == (ssize_t)sizeof(seen) && seen == target->proof ? 0 : -ENOEXEC;
}

bool cover_is_itself(const struct target *target)
{
	return look_at_it(target) != -ENOEXEC;
}

static int check_itself(struct target *target)
{
	int err = look_at_it(target);

	if (err)
		count_one(target->program,
			  err == -ENOEXEC ? COUNT_PROCESSES_CHANGED : COUNT_PROCESSES_ENDING);
	return err ? -ESRCH : 0;
}

/* Is the record of this thread (by its id in its own namespace), and will the thread take SIGTRAP
 * again when the handler returns? */
static bool is_open_thread(const struct area_hit *record, const void *wanted)
{
	return record->tid == *(const pid_t *)wanted && record->flags & AREA_HIT_OPEN;
}

/*
 * Does our handler hold this thread? Then it blocks SIGTRAP until the handler returns, and suits
 * all the same. A program that writes false records only makes a hit of one of its own threads
 * wait.
 */
static bool is_held_at_hit(const struct target *target, pid_t tid)
{
	pid_t inside = inject_id_inside(tid);

	return inside && area_holds(target->program->area, target->index, is_open_thread, &inside);
}

/* May an event be opened in this thread of a process attached to? In such a process no preload
 * library keeps SIGTRAP out of the kernel's mask, so a thread that blocks it does not suit. */
static bool suits(struct target *target, pid_t tid)
{
	struct inject_thread thread = inject_look(target->pid, tid);

	if (!confined_note(target, &thread)) {
		count_one(target->program, COUNT_THREADS_STRICT);
		return false;
	}
	if (!thread.handled)
		return false;
	if (!thread.blocks || is_held_at_hit(target, tid))
		return true;
	target->doubts.some |= thread.doubtful;
	count_one(target->program, COUNT_THREADS_BLOCKING);
	return false;
}

/*
 * Does the thread in which an event was opened belong to the process? Asked once it is open: a
 * thread that has that id and belongs to the process then is the one that the event is in, or that
 * one has ended. The process's own id cannot be another's while check_itself() finds afterwards
 * that it runs. EPERM: the kernel looks whose thread it is before it looks who may send a signal.
 */
static bool cover_belongs(struct target *target, pid_t tid)
{
	long err = raw_syscall3(SYS_tgkill, target->pid, tid, 0);

	if (target->stacks && !inject_stacks_allow(target->stacks, tid)) {
		count_one(target->program, COUNT_THREADS_UNASKED);
		return false;
	}
	if (target->entered && !suits(target, tid))
		return false;
	if (!err || err == -EPERM || err == -EACCES)
		return true;
	count_one(target->program, COUNT_THREADS_STRANGE);
	return false;
}

/* Looks at threads in doubt again, more and more seldom: in programs that fork all the time some
 * thread is always in doubt. */
void cover_look_again(struct target *target)
{
	struct doubts *doubts = &target->doubts;
	uint64_t now = clock_now();

	if (!doubts->some || now < doubts->next)
		return;
	/* Threads that sleep only in calls with a mask of their own are asked for the thread's own
	 * mask. */
	if (target->entered)
		masks_are_known(target->pid);
	doubts->some = false;
	doubts->next =
		now + (DOUBTS_FIRST << (doubts->looks < DOUBTS_GROW ? doubts->looks : DOUBTS_GROW));
	doubts->looks++;
}

unsigned cover_version(const struct target *target)
{
	return target->doubts.looks + (target->stacks ? target->stacks->version : 0);
}

static int remove_strangers(struct target *target, struct coverage *coverage)
{
	for (size_t i = 0; i < coverage->count;) {
		if (cover_belongs(target, coverage->roots[i].tid))
			i++;
		else {
			coverage_remove(coverage, i);
			coverage->left_out++;
		}
	}
	return coverage->count ? 0 : -ESRCH;
}

int cover_open(struct target *target, struct coverage *coverage,
	       const struct coverage_target *threads, const struct perf_request *request,
	       uint64_t data)
{
	struct perf_request disabled = *request;
	int err;

	disabled.disabled = true;
	err = coverage_open(coverage, threads, &disabled, same_for_all, &data);
	if (err)
		return err;
	err = remove_strangers(target, coverage);
	if (!err)
		err = check_itself(target);
	if (!err && !request->disabled)
		err = coverage_enable(coverage, threads);
	if (err)
		coverage_close(coverage);
	return err;
}

int cover_add(struct target *target, struct coverage *coverage, const struct perf_request *request,
	      pid_t tid)
{
	struct perf_request disabled = *request;
	int err;

	disabled.disabled = true;
	err = coverage_add(coverage, &disabled, tid);
	if (err)
		return err;
	err = cover_belongs(target, tid) ? check_itself(target) : -ESRCH;
	if (!err)
		err = perf_enable(coverage->roots[coverage->count - 1].fd);
	if (err)
		coverage_remove(coverage, coverage->count - 1);
	return err;
}

bool cover_may_move(struct target *target)
{
	struct inject_thread thread;

	if (!target->entered)
		return true;
	thread = inject_look(target->pid, target->pid);
	return confined_note(target, &thread) && thread.handled && confined_look(target) &&
	       !taken_look(target);
}

int cover_modify(struct coverage *coverage, const struct coverage_target *threads,
		 const struct perf_request *request, uint64_t data)
{
	return coverage_modify(coverage, threads, request, same_for_all, &data);
}
