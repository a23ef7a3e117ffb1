/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process and its children: those that were there before are entered as their parent was, one
 * after another; those that were forked since have all of it in their memory already, and are
 * adopted at a look.
 */
#include "arrival/entered.h"

#include "base/pidfd.h"
#include "base/syscall.h"
#include "inject/masks.h"
#include "inject/remote.h"
#include "process/children.h"
#include "process/identity.h"
#include "process/say.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define GENERATIONS_MAX 16
#define PASSED_MAX 1024
#define AGAIN_LOOKS 20		/* at a child that may be entered a moment later … */
#define AGAIN_NS 5000000	/* … in between, … */
#define AGAIN_MOST (2 * SECOND) /* … and with what is waited for within them */

/* ---- those that come ---------------------------------------------------------------------- */

/* Tells a forked child of its entry. It has its parent's memory, with the handler, the area and the
 * action, and none of its events. Handlers that ran in other threads when it was made do not run in
 * it. */
static int tell_child(struct program *program, const struct injection *injection, int index)
{
	const struct injected_state state = {
		.area = injection->area,
		.process = injection->area + offsetof(struct area, process) +
			   (uint64_t)index * sizeof(struct area_process),
		.index = (uint32_t)index,
		.hold_most = program->area->hold_most ? program->area->hold_most : HOLD_USUAL,
	};
	const size_t length = offsetof(struct injected_state, can_read_fs_base);
	struct iovec local = {(void *)&state, length}, remote = {(void *)injection->state, length};
	uint32_t none = 0;
	struct iovec zero = {&none, sizeof(none)};
	struct iovec entered = {(void *)(injection->own + offsetof(struct injected_own, entered)),
				sizeof(none)};

	if (process_vm_writev(injection->pid, &local, 1, &remote, 1, 0) != (ssize_t)length ||
	    process_vm_writev(injection->pid, &zero, 1, &entered, 1, 0) != sizeof(none))
		return -ESRCH;
	return 0;
}

/* Is it a fork, with memory of its own? Not if it borrows its parent's memory (vfork(2), clone(2)
 * with CLONE_VM), whose state there is the parent's. In doubt it is left alone. */
bool entered_is_forked(const struct program *program, const struct injection *parent, pid_t child)
{
	return process_maps(program->area_fd, child) &&
	       raw_syscall6(SYS_kcmp, parent->pid, child, KCMP_VM, 0, 0, 0) > 0;
}

/* The child's actions of signals are its parent's; its only thread is asked for its signal
 * stack. */
static void inherit_stacks(struct entered *entered, const struct injection *parent, int index)
{
	const struct inject_stacks *known = &entered->stacks[parent->index];

	inject_stacks_destroy(&entered->stacks[index]);
	entered->stacks[index].asked = known->asked;
	entered->stacks[index].exposed = known->exposed;
	entered->stacks[index].nested = known->nested;
}

/* Counts a child for which there was no room. Each is counted once, though it is met again at each
 * look, since there may be room for it then. Where very many come and go, some are counted
 * twice. */
static void pass_by(struct program *program, pid_t child)
{
	struct thread_set *passed = &program->entered->passed;

	if (thread_set_contains(passed, child))
		return;
	if (passed->count == PASSED_MAX)
		thread_set_destroy(passed);
	thread_set_add(passed, child);
	count_one(program, COUNT_PROCESSES_UNENTERED);
}

/* Takes over a child that is held by `pidfd`, which becomes its injection's. False: nothing was
 * done. */
static bool take(struct program *program, const struct injection *parent, pid_t child, int pidfd)
{
	struct entered *entered = program->entered;
	struct injection *injection = &entered->injection[entered->count];
	pid_t inside = process_name_inside(child);
	int index = -1;

	if (entered->count < AREA_PROCESSES)
		index = entered_claim(program, inside ? inside : child);
	if (index < 0) {
		pass_by(program, child);
		return false;
	}
	*injection = *parent;
	injection->pid = child;
	injection->index = (uint32_t)index;
	injection->pidfd = pidfd;
	if (tell_child(program, injection, index)) {
		entered_give_back(program, index);
		return false;
	}
	entered->count++;
	entered->total++;
	inherit_stacks(entered, parent, index);
	entered_look_at_stacks(program, injection);
	entered_announce(program, injection, index);
	return true;
}

/* Adopts a forked child. What was seen of it is true of the process that the pidfd holds, if that
 * lives afterwards. Events are opened once: one that runs is adopted at a later look, when it is
 * known to take SIGTRAP. */
static void adopt(struct program *program, const struct injection *parent, pid_t child)
{
	int pidfd = (int)raw_syscall3(SYS_pidfd_open, child, 0, 0);

	if (pidfd < 0)
		return;
	if (!entered_is_forked(program, parent, child) || !inject_is_in_place(child) ||
	    !masks_are_known(child) || pidfd_has_ended(pidfd) ||
	    !take(program, parent, child, pidfd))
		close(pidfd);
}

/* ---- those that were there before --------------------------------------------------------- */

/* Enters a child that a pidfd holds. Its number may have been given anew since it was listed: then
 * it is not this parent's child. */
static int enter_held(struct program *program, pid_t parent, pid_t child,
		      struct inject_reason *reason)
{
	int pidfd = (int)raw_syscall3(SYS_pidfd_open, child, 0, 0);

	if (pidfd < 0)
		return pidfd;
	if (process_parent(child) == parent)
		return entered_enter(program, child, pidfd, reason);
	close(pidfd);
	return -ESRCH;
}

/* Tries to enter a child. One that was forked just now, or executes a program, is looked at again a
 * moment later. A look may itself wait for as long as it is worth. */
static int try_child(struct program *program, pid_t parent, pid_t child,
		     struct inject_reason *reason)
{
	const struct timespec pause = {0, AGAIN_NS};
	const uint64_t until = clock_now() + AGAIN_MOST;
	int err = enter_held(program, parent, child, reason);

	for (int i = 0; i < AGAIN_LOOKS && err == -EAGAIN && clock_now() < until; i++) {
		if (atomic_load(&program->stopped))
			break;
		nanosleep(&pause, NULL);
		err = enter_held(program, parent, child, reason);
	}
	return err;
}

/* Enters a child and its own children. A child that cannot be entered is left alone, and its own
 * children are looked at all the same. The reason is told of the first one, but not where nothing
 * was entered before it: as a rule the process itself was refused for the same reason, which is
 * told then. */
static void enter_child(struct program *program, pid_t parent, pid_t child,
			struct inject_reason *reason)
{
	int err = try_child(program, parent, child, reason);

	if (!err || err == -ESRCH)
		return;
	if (!program->count[COUNT_CHILDREN_REFUSED] && program->entered->count)
		say("%s; this child is not watched", reason->text);
	count_one(program, COUNT_CHILDREN_REFUSED);
}

static void enter_descendants(struct program *program, pid_t pid, unsigned depth)
{
	struct thread_set children = {0};
	struct inject_reason reason = {""};

	children_list(&children, pid, CHILDREN_ALL_THREADS);
	for (size_t i = 0; i < children.count; i++) {
		pid_t found = children.tids[i];

		/* One forked since its parent was entered has all of that: it is adopted at the
		 * next look. */
		if (atomic_load(&program->stopped))
			break;
		if (found == getpid() || entered_is(program, found) ||
		    process_maps(program->area_fd, found))
			continue;
		enter_child(program, pid, found, &reason);
		if (depth < GENERATIONS_MAX)
			enter_descendants(program, found, depth + 1);
	}
	thread_set_destroy(&children);
}

/* A process that cannot be entered may have children that do all the work (a server's workers). */
int enter_process(struct program *program, pid_t pid, struct inject_reason *reason)
{
	int err = entered_begin(program);

	if (!err)
		err = entered_enter(program, pid, -1, reason);
	/* What is no process has no children: those of a thread's number are its process's. */
	if (!program->entered || err == -EINVAL)
		return err;
	if (program->options.follow)
		enter_descendants(program, pid, 0);
	if (err && program->entered->count) {
		say("%s; its children are watched", reason->text);
		err = 0;
	}
	if (!err && !program->root)
		program->root = program->area->root = pid;
	return err;
}

/* ---- at each look ------------------------------------------------------------------------- */

static void forget_ended(struct entered *entered)
{
	for (unsigned i = 0; i < entered->count;) {
		struct injection *injection = &entered->injection[i];

		if (injection->pidfd >= 0 && !pidfd_has_ended(injection->pidfd)) {
			i++;
			continue;
		}
		inject_go(injection);
		if (injection->pidfd >= 0)
			close(injection->pidfd);
		*injection = entered->injection[--entered->count];
	}
}

/* Looks at children that were there at the last look, too: one that is confined by seccomp(2)
 * becomes so as it begins. */
void entered_look_at_children(struct program *program)
{
	struct entered *entered = program->entered;
	struct thread_set seen = {0};

	forget_ended(entered);
	for (unsigned i = 0; program->options.follow && i < entered->count; i++) {
		struct thread_set children = {0};

		children_list(&children, entered->injection[i].pid, CHILDREN_ALL_THREADS);
		entered->had_children |= children.count > 0;
		for (size_t j = 0; j < children.count; j++) {
			thread_set_add(&seen, children.tids[j]);
			if (!entered_is(program, children.tids[j]) &&
			    thread_set_contains(&entered->seen, children.tids[j]))
				adopt(program, &entered->injection[i], children.tids[j]);
		}
		thread_set_destroy(&children);
	}
	thread_set_destroy(&entered->seen);
	entered->seen = seen;
}

void entered_look(struct program *program)
{
	struct entered *entered = program->entered;

	if (!entered)
		return;
	remote_let_late_go();
	entered_look_at_children(program);
	for (unsigned i = 0; i < entered->count; i++)
		if (!entered->injection[i].held)
			entered_look_at_stacks(program, &entered->injection[i]);
}
