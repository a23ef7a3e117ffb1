/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: from their announcement in the area to their end. */
#include "control/entries.h"
#include "control/observed.h"
#include "control/private.h"
#include "control/restriction.h"
#include "control/say.h"

#include "base/syscall.h"

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define ANNOUNCE_PATIENCE (2 * SECOND) /* after a program was executed */
#define GENERATIONS 64 /* that are looked at to tell whether a process stems from the program */

/*
 * Does process `pid` map our area, this very file? Else its id means another process here (a pid
 * namespace), or somebody writes into the area what is not so: only processes that we started, or
 * that these started, can have opened it.
 */
bool target_maps_area(const struct control *control, pid_t pid)
{
	unsigned long inode;
	unsigned major, minor;
	char name[64], line[4400];
	bool found = false;
	struct stat own;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	file = fstat(control->area_fd, &own) ? NULL : fopen(name, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, "/memfd:trapline") &&
			sscanf(line, "%*s %*s %*s %x:%x %lu", &major, &minor, &inode) == 3 &&
			makedev(major, minor) == own.st_dev && inode == own.st_ino;
	fclose(file);
	return found;
}

/* The last of the ids in "NSpid:\t4711\t1". */
pid_t target_name_inside(pid_t pid)
{
	char name[64], line[1024], *last;
	pid_t inside = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	file = fopen(name, "re");
	if (!file)
		return 0;
	while (!inside && fgets(line, sizeof(line), file)) {
		last = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;
		inside = last ? (pid_t)strtol(last, NULL, 10) : 0;
	}
	fclose(file);
	return inside;
}

bool target_is_named_inside(pid_t pid, pid_t inside)
{
	return inside > 0 && target_name_inside(pid) == inside;
}

/* It may announce itself: it has not yet, or has become another program since. */
static bool is_unknown(struct control *control, pid_t pid)
{
	const struct target *target = target_find(control, pid);

	return !target || !cover_is_itself(target);
}

/* The id here of a process that calls itself `inside` in a namespace of its own; 0: none. */
static pid_t find_outside(struct control *control, pid_t inside)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (directory && !found && (entry = readdir(directory))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && target_is_named_inside(pid, inside) && is_unknown(control, pid) &&
		    target_maps_area(control, pid))
			found = pid;
	}
	if (directory)
		closedir(directory);
	return found;
}

/* What /proc/PID/status tells of the process; zeros when it is gone. */
struct process_status {
	pid_t parent, tracer;
	/* Strict mode also forbids reading the clock: then nothing is watched. */
	struct restriction restriction;
};

static struct process_status read_status(pid_t pid)
{
	struct process_status status = {.restriction = {.mode = SECCOMP_MODE_DISABLED}};
	char name[64], line[256];
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	file = fopen(name, "re");
	if (!file)
		return status;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "PPid: %d", &status.parent);
		sscanf(line, "TracerPid: %d", &status.tracer);
		sscanf(line, "Seccomp: %d", &status.restriction.mode);
		/* The last of them, where there is one. */
		if (sscanf(line, "Seccomp_filters: %d", &status.restriction.filters) == 1)
			break;
	}
	fclose(file);
	return status;
}

/* Started by the program, however far down. */
static bool is_descendant(const struct control *control, pid_t pid)
{
	pid_t ancestor = control->root ? control->root : control->child;

	for (int i = 0; i < GENERATIONS && pid > 1 && pid != ancestor; i++)
		pid = read_status(pid).parent;
	return pid == ancestor;
}

/* By the program itself: it would take our signals for its own (src/agent/trace.c). The debugger
 * need not be watched itself. */
static bool is_debugged_within(struct control *control, pid_t pid)
{
	pid_t tracer = read_status(pid).tracer;

	return tracer > 0 && (target_find(control, tracer) || is_descendant(control, tracer));
}

bool target_has_ended(const struct target *target)
{
	struct pollfd ended = {target->pidfd, POLLIN, 0};

	return target->pidfd >= 0 && poll(&ended, 1, 0) == 1;
}

static void close_slots(struct target *target)
{
	for (unsigned i = 0; i < target->slots; i++)
		slot_close(target, &target->slot[i]);
}

static int open_slots(struct target *target)
{
	if (target->control->options.lasting) {
		target->slots = AREA_SLOTS; /* each is opened when it is armed */
		return 0;
	}
	if (target->control->options.stall_first)
		return stall_first_open(target);
	for (unsigned i = 0; i < target->control->options.slots; i++) {
		int err;

		target->slot[i].index = i;
		err = slot_open(target, &target->slot[i]);
		if (err)
			return i > 0 && err == -ENOSPC ? 0 : err;
		target->slots = i + 1;
	}
	return 0;
}

/* What the handlers counted: the program's side of the losses. */
static void take_counts(struct target *target)
{
	uint64_t *count = target->control->count;

	count[COUNT_HITS_DROPPED] += atomic_exchange(&target->shared->dropped, 0);
	count[COUNT_HITS_OVER] += atomic_exchange(&target->shared->over, 0);
	count[COUNT_HITS_STALE] += atomic_exchange(&target->shared->stale, 0);
	count[COUNT_NOTICES_LOST] += atomic_exchange(&target->shared->unnoticed, 0);
	count[COUNT_ALLOCATIONS] += atomic_exchange(&target->shared->allocations_noted, 0);
	count[COUNT_ALLOCATIONS_PASSED] += atomic_exchange(&target->shared->allocations_passed, 0);
	count[COUNT_ALLOCATIONS_REPLACED] +=
		atomic_exchange(&target->shared->allocations_replaced, 0);
}

static void destroy(struct target *target)
{
	struct control *control = target->control;

	budget_collect(target);
	if (!target->observed)
		take_counts(target);
	hits_forget_target(control, target);
	if (!target->observed)
		close_slots(target);
	for (unsigned i = 0; target->observed && i < AREA_SLOTS; i++)
		observed_disarm(target, &target->slot[i]);
	limits_close(target);
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		hits_forget_slot(control, &target->slot[i]);
	space_close(target->space);
	active_forget(target);
	observed_close(target->observed);
	control->target[target->index] = NULL;
	free(target);
}

void target_end(struct target *target)
{
	struct control *control = target->control;
	uint32_t index = target->index;
	pid_t pid = target->pid;

	if (target->observed)
		observed_settle(target);
	else if (control->options.lasting)
		traces_collect(control);
	if (control->observer.process_ended)
		control->observer.process_ended(control->observer.context, pid);
	destroy(target);
	entry_leave(control, index);
}

/* The process lives on unwatched. */
static void leave(struct target *target)
{
	struct control *control = target->control;
	struct area_process *shared = target->shared;

	count_one(control, COUNT_PROCESSES_LEFT);
	if (control->observer.process_ended)
		control->observer.process_ended(control->observer.context, target->pid);
	destroy(target);
	entry_answer(shared, AREA_PROCESS_LEFT);
}

static int hold_id(pid_t pid)
{
	return (int)raw_syscall3(SYS_pidfd_open, pid, 0, 0);
}

static int begin(struct target *target)
{
	struct process_status status = read_status(target->pid);
	struct control *control = target->control;
	int err = control->options.limits_only
			  ? 0
			  : space_open(&target->space, control->session, target->pid);

	if (err)
		return err;
	target->proof_address = target->shared->proof_address;
	target->proof = target->shared->proof;
	budget_begin(target);
	atomic_store(&target->shared->dropped, 0);
	atomic_store(&target->shared->over, 0);
	atomic_store(&target->shared->stale, 0);
	atomic_store(&target->shared->unnoticed, 0);
	atomic_store(&target->shared->unsent, 0);
	memset(&target->shared->filter, 0, sizeof(target->shared->filter));
	atomic_store(&target->shared->quiet,
		     restriction_is_on(&status.restriction, control->filters));
	target->first_tracer = status.tracer;
	limits_open(target);
	return open_slots(target);
}

/* Those that have ended, with nobody to say so. */
static void targets_end(struct control *control)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i] && target_has_ended(control->target[i]))
			target_end(control->target[i]);
	entries_check(control);
}

static void welcome(struct control *control, uint32_t index)
{
	struct area_process *shared = &control->area->process[index];
	struct target *target;
	pid_t pid = shared->pid;

	if (!target_maps_area(control, pid) || !target_is_named_inside(pid, pid))
		pid = find_outside(control, pid);
	if (!pid) {
		count_one(control, COUNT_PROCESSES_STRANGE);
		entry_answer(shared, AREA_PROCESS_LEFT);
		return;
	}
	/* The same process with a new image: the kernel has removed the old one's events. */
	entries_replace(control, index, pid);
	if (is_debugged_within(control, pid)) {
		atomic_fetch_add(&control->area->withdrawn, 1);
		entry_answer(shared, AREA_PROCESS_LEFT);
		return;
	}
	target = calloc(1, sizeof(*target));
	if (!target) {
		count_one(control, COUNT_PROCESSES_LEFT);
		entry_answer(shared, AREA_PROCESS_LEFT);
		return;
	}
	*target = (struct target){.control = control,
				  .index = index,
				  .pid = pid,
				  .pidfd = hold_id(pid),
				  .shared = shared};
	control->target[index] = target;
	entry_know(control, index, pid, target->pidfd);
	/* Again, since the id may have been given to another process before it was held. */
	if (target->pidfd < 0 || !target_maps_area(control, pid) || begin(target)) {
		count_one(control,
			  target_has_ended(target) ? COUNT_PROCESSES_ENDING : COUNT_PROCESSES_LEFT);
		destroy(target);
		entry_leave(control, index);
		return;
	}
	count_one(control, COUNT_PROCESSES);
	control->welcomed = true;
	if (is_attached(control))
		attach_samples(control, pid);
	if (control->observer.process_began)
		control->observer.process_began(control->observer.context, pid);
	entry_answer(shared, AREA_PROCESS_WATCHED);
}

/* Its entry in the area is ours alone. */
int target_observe(struct control *control, pid_t pid, struct observed *observed)
{
	struct target *target = calloc(1, sizeof(*target));
	int err;

	if (!target)
		return -ENOMEM;
	*target = (struct target){.control = control,
				  .pid = pid,
				  .pidfd = hold_id(pid),
				  .shared = &control->area->process[0]};
	target->shared->pid = pid;
	control->target[0] = target;
	entry_know(control, 0, pid, target->pidfd);
	err = begin(target);
	if (err) {
		destroy(target);
		return err;
	}
	target->observed = observed;
	atomic_store(&target->shared->state, AREA_PROCESS_WATCHED);
	count_one(control, COUNT_PROCESSES);
	if (control->observer.process_began)
		control->observer.process_began(control->observer.context, pid);
	return 0;
}

/* Those that say good-bye are let go at once: some wait for it. */
void targets_welcome(struct control *control)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		struct area_process *shared = &control->area->process[i];
		uint32_t state = atomic_load(&shared->state);

		if (state == AREA_PROCESS_ANNOUNCED && entries_are_scarce(control)) {
			targets_end(control);
			state = atomic_load(&shared->state);
		}
		if (state == AREA_PROCESS_ANNOUNCED)
			welcome(control, i);
		else if (state == AREA_PROCESS_GONE && control->target[i])
			target_end(control->target[i]);
		else if (state == AREA_PROCESS_GONE)
			entry_leave(control, i);
	}
}

/*
 * A debugger that came from outside stops at a hit as at a breakpoint it knows nothing of, so a
 * sampling tool waits until it has left. Watches that the user asked for stay, and so does all of a
 * process that was traced before it was watched.
 */
static void check_tracer(struct target *target, pid_t tracer)
{
	bool debugged = tracer > 0 && tracer != target->first_tracer;

	if (debugged && !target->debugged)
		count_one(target->control, COUNT_DEBUGGERS);
	target->debugged = debugged;
}

/* What the process or others did to it since the last look. */
static void check_status(struct target *target)
{
	bool lasting = target->control->options.lasting;
	struct process_status status;

	if (lasting && atomic_load(&target->shared->quiet))
		return;
	status = read_status(target->pid);
	if (!lasting)
		check_tracer(target, status.tracer);
	if (restriction_is_on(&status.restriction, target->control->filters))
		atomic_store(&target->shared->quiet, 1);
	if (status.restriction.mode == SECCOMP_MODE_STRICT)
		leave(target);
}

/* What it executed did not announce itself: the events are gone, and nothing is noted any more. */
static void lose(struct target *target)
{
	struct control *control = target->control;
	uint32_t index = target->index;
	char name[CONTROL_NAME];

	count_one(control, COUNT_PROCESSES_LOST);
	if (target->pid == control->child) {
		control_name(target->pid, name);
		control_say("%s (%d), which the program has become, could not be entered and is "
			    "not watched",
			    name, (int)target->pid);
	}
	target_end(target);
	entry_release(control, index);
}

/* False: it has become another program. Its announcement is waited for, or its asking. */
static bool check_itself(struct target *target)
{
	uint64_t now = control_now();

	if (cover_is_itself(target)) {
		target->changed = 0;
		return true;
	}
	if (!target->changed) {
		target->changed = now;
		handover_expect(target->control, target->pid);
	} else if (now - target->changed > ANNOUNCE_PATIENCE) {
		lose(target);
	}
	return false;
}

static void check_target(struct target *target)
{
	if (target_has_ended(target)) {
		target_end(target);
		return;
	}
	if (target->observed) {
		observe_check(target);
		return;
	}
	if (!check_itself(target))
		return;
	threads_check(target);
	check_status(target);
}

void targets_check(struct control *control)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i])
			check_target(control->target[i]);
	entries_check(control);
}

struct target *target_find(struct control *control, pid_t pid)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i] && control->target[i]->pid == pid)
			return control->target[i];
	return NULL;
}

/* A thread's id is another process's only when this one has ended just after it was looked at, and
 * every other id has been given meanwhile. */
int control_signal(struct control *control, pid_t pid, pid_t tid, int signal)
{
	const struct target *target = target_find(control, pid);

	if (!target || target_has_ended(target))
		return -ESRCH;
	if (tid)
		return (int)raw_syscall3(SYS_tgkill, pid, tid, signal);
	return (int)raw_syscall6(SYS_pidfd_send_signal, target->pidfd, signal, 0, 0, 0, 0);
}
