/* SPDX-License-Identifier: Apache-2.0 */
/* Out of all processes that were entered, and of what these have forked. */
#include "arrival/entered.h"

#include "base/pidfd.h"
#include "base/syscall.h"
#include "inject/remote.h"
#include "inject/status.h"
#include "inject/turn.h"
#include "process/children.h"
#include "process/identity.h"
#include "process/say.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define ENDING_LOOKS 10	       /* at one that could not be left … */
#define ENDING_LOOK_NS 5000000 /* … in between */

/* Of a process that ends meanwhile the kernel permits and shows nothing, for reasons that are not
 * its own. */
static bool is_ending(pid_t pid)
{
	const struct timespec pause = {0, ENDING_LOOK_NS};
	bool ending = status_is_ending(pid);

	for (int i = 0; i < ENDING_LOOKS && !ending; i++) {
		nanosleep(&pause, NULL);
		ending = status_is_ending(pid);
	}
	return ending;
}

static bool has_other_threads(pid_t pid)
{
	struct thread_set threads = {0};
	bool others = false;

	thread_set_list(&threads, pid);
	for (size_t i = 0; i < threads.count && !others; i++)
		others = threads.tids[i] != pid && !status_is_ending(threads.tids[i]);
	thread_set_destroy(&threads);
	return others;
}

/* Its first thread has ended, through which it is looked at, and the others go on. */
static bool has_lost_first(pid_t pid)
{
	const struct timespec pause = {0, ENDING_LOOK_NS};
	bool others = status_is_ending(pid) && has_other_threads(pid);

	for (int i = 0; i < ENDING_LOOKS && others; i++) {
		nanosleep(&pause, NULL);
		others = has_other_threads(pid);
	}
	return others;
}

static void leave(struct program *program, struct injection *injection);

/* A forked child that was never told of an entry of its own: none was to be watched, there was no
 * room, or it was forked just now. */
static void leave_stray(struct program *program, const struct injection *parent, pid_t child)
{
	struct injection injection = *parent;
	uint32_t none = 0;
	struct iovec local = {&none, sizeof(none)},
		     entered = {(void *)(parent->own + offsetof(struct injected_own, entered)),
				sizeof(none)};

	if (entered_is(program, child))
		return;
	injection.pid = child;
	injection.pidfd = (int)raw_syscall3(SYS_pidfd_open, child, 0, 0);
	if (injection.pidfd < 0)
		return;
	/* Handlers that ran in its parent's other threads do not run in it. Its action may be the
	 * program's already: it was forked between that and the end of our memory there. */
	if (!entered_is_forked(program, parent, child) || pidfd_has_ended(injection.pidfd) ||
	    process_vm_writev(child, &local, 1, &entered, 1, 0) < 0)
		close(injection.pidfd);
	else
		leave(program, &injection);
}

/*
 * What it has forked by now, and never will again: what is forked from now on has nothing of ours.
 * Those of a child are looked at when it has been left in turn, as deep as they go.
 */
static void leave_strays(struct program *program, const struct injection *parent)
{
	struct thread_set children = {0};

	children_list(&children, parent->pid, CHILDREN_ALL_THREADS);
	program->entered->had_children |= children.count > 0;
	for (size_t i = 0; i < children.count; i++)
		leave_stray(program, parent, children.tids[i]);
	thread_set_destroy(&children);
}

static void leave(struct program *program, struct injection *injection)
{
	struct entered *entered = program->entered;
	struct inject_reason reason = {""};
	pid_t pid = injection->pid;
	struct injection was;
	int err, turn;

	inject_go(injection);
	was = *injection;
	turn = turn_begin(pid);
	err = inject_leave(injection, &reason);
	turn_end(turn);
	if (entered->longest < injection->stopped)
		entered->longest = injection->stopped;
	/* That children execute programs is what they are made for. */
	if (err == -ESTALE && pid == program->root)
		say("%s", reason.text);
	else if (err && err != -ESRCH && err != -ESTALE && !is_ending(pid))
		say("%s (process %d keeps trapline's handler)", reason.text, (int)pid);
	else if (err == -ESRCH && has_lost_first(pid))
		say("the first thread of process %d has ended before the others: it keeps "
		    "trapline's handler, which does nothing",
		    (int)pid);
	leave_strays(program, &was);
}

/* Its parent has ended since it was forked, so nobody tells whose child it was. What was seen of it
 * was seen of the process that is held, if that lives afterwards. */
static void leave_orphan(struct program *program, pid_t pid)
{
	struct inject_reason reason;
	struct injection injection;
	uint32_t none = 0;
	struct iovec local = {&none, sizeof(none)}, entered = {NULL, sizeof(none)};

	if (!process_maps(program->area_fd, pid) || inject_find(pid, &injection, &reason) != 1)
		return;
	entered.iov_base = (void *)(injection.own + offsetof(struct injected_own, entered));
	if (!process_maps(program->area_fd, pid) || pidfd_has_ended(injection.pidfd) ||
	    process_vm_writev(pid, &local, 1, &entered, 1, 0) < 0)
		close(injection.pidfd);
	else
		leave(program, &injection);
}

/* Whoever still has our area, when all that are known of have been left. */
static void leave_orphans(struct program *program)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && !entered_is(program, pid))
			leave_orphan(program, pid);
	}
	if (directory)
		closedir(directory);
}

void enter_leave(struct program *program)
{
	struct entered *entered = program->entered;

	if (!entered)
		return;
	/* A child that was forked in the last moment has the handler too. */
	entered_look_at_children(program);
	for (unsigned i = 0; i < entered->count; i++)
		leave(program, &entered->injection[i]);
	if (program_is_attached(program) && entered->had_children)
		leave_orphans(program);
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		inject_stacks_destroy(&entered->stacks[i]);
	remote_part_with_late();
	thread_set_destroy(&entered->passed);
	thread_set_destroy(&entered->seen);
	entered->count = 0;
	program->count[COUNT_ENTERED] = entered->total;
	program->count[COUNT_ENTERED_STOP] = entered->longest;
}
