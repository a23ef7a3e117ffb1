/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: from their announcement in the area to their end. */
#include "target/target.h"

#include "process/restriction.h"
#include "process/say.h"
#include "process/stat_file.h"

#include "base/clock.h"
#include "base/proc_line.h"
#include "base/syscall.h"
#include "inject/inject.h"
#include "inject/stacks.h"
#include "target/cover.h"
#include "program/entries.h"
#include "program/handover.h"
#include "process/identity.h"
#include "process/namespaces.h"

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

#define ANNOUNCE_PATIENCE (2 * SECOND) /* ns waited after a program was executed */
/* Ancestors that are looked at to tell whether a process was started by the program. */
#define GENERATIONS 64

/* May the process announce itself? It may if it is not watched yet, or has executed another program
 * since. */
static bool is_unknown(struct program *program, pid_t pid)
{
	const struct target *target = target_find(program, pid);

	return !target || !cover_is_itself(target);
}

/* The id here of a process that calls itself `inside` in a namespace of its own; 0: none. */
static pid_t find_outside(struct program *program, struct process_names *names, pid_t inside)
{
	size_t at = 0;
	pid_t pid;

	do
		pid = process_names_next(names, inside, &at);
	while (pid && !(is_unknown(program, pid) && process_maps(program->area_fd, pid)));
	return pid;
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
	while (proc_line_next(file, line, sizeof(line))) {
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

/* Was the process started by the program, however indirectly? */
static bool is_descendant(const struct program *program, pid_t pid)
{
	pid_t ancestor = program->root ? program->root : program->child;

	for (int i = 0; i < GENERATIONS && pid > 1 && pid != ancestor; i++)
		pid = read_status(pid).parent;
	return pid == ancestor;
}

/* Is the process debugged by one of the program's own, which would take our signals for its own
 * (src/life/trace.c)? That debugger need not be watched itself. */
static bool is_debugged_within(struct program *program, pid_t pid)
{
	pid_t tracer = read_status(pid).tracer;

	return tracer > 0 && (target_find(program, tracer) || is_descendant(program, tracer));
}

/* Takes over what the handlers counted: the program's side of the losses. */
static void take_counts(struct target *target)
{
	uint64_t *count = target->program->count;

	count[COUNT_HITS_DROPPED] += atomic_exchange(&target->shared->dropped, 0);
	count[COUNT_HITS_OVER] += atomic_exchange(&target->shared->over, 0);
	count[COUNT_HITS_STALE] += atomic_exchange(&target->shared->stale, 0);
	count[COUNT_HITS_OWN] += atomic_exchange(&target->shared->own, 0);
	count[COUNT_NOTICES_LOST] += atomic_exchange(&target->shared->unnoticed, 0);
	count[COUNT_BIRTHS_PASSED] += atomic_exchange(&target->shared->newborn.passed, 0);
	count[COUNT_ALLOCATIONS] += atomic_exchange(&target->shared->allocations_noted, 0);
	count[COUNT_ALLOCATIONS_PASSED] += atomic_exchange(&target->shared->allocations_passed, 0);
	count[COUNT_GUARDS] += atomic_exchange(&target->shared->guard.chosen, 0);
	count[COUNT_GUARDS_PASSED] += atomic_exchange(&target->shared->guard.passed, 0);
	count[COUNT_GUARDS_CROWDED] += atomic_exchange(&target->shared->guard.crowded, 0);
	count[COUNT_GUARDS_LEFT_OUT] += atomic_exchange(&target->shared->guard.left_out, 0);
	count[COUNT_GUARDS_REFUSED] += atomic_exchange(&target->shared->guard.refused, 0);
	count[COUNT_GUARDS_UNKEPT] += atomic_exchange(&target->shared->guard.unkept, 0);
	count[COUNT_GUARDS_UNKEPT_TIME] += atomic_exchange(&target->shared->guard.unkept_time, 0);
	count[COUNT_GUARDS_UNPAGED] += atomic_exchange(&target->shared->guard.unpaged, 0);
	count[COUNT_ALLOCATIONS_REPLACED] +=
		atomic_exchange(&target->shared->allocations_replaced, 0);
}

static void destroy(struct target *target)
{
	if (!target->observed)
		take_counts(target);
	target->program->events->close(target);
	space_close(target->space);
	active_forget(target);
	confined_end(target);
	target->program->target[target->index] = NULL;
	free(target);
}

void target_end(struct target *target)
{
	struct program *program = target->program;
	uint32_t index = target->index;

	program->events->ending(target);
	destroy(target);
	entry_leave(program, index);
}

/* Ends the watching of a process that lives on. */
static void leave(struct target *target)
{
	struct program *program = target->program;
	struct area_process *shared = target->shared;

	count_one(program, COUNT_PROCESSES_LEFT);
	program->events->left(target);
	destroy(target);
	entry_answer(shared, AREA_PROCESS_LEFT);
}

/* Leaves a process for what its program does, which `what` says of it. */
static void leave_for(struct target *target, enum count count, const char *what)
{
	char name[PROCESS_NAME];

	process_name(target->pid, name);
	say("%s (%d) %s", name, (int)target->pid, what);
	count_one(target->program, count);
	leave(target);
}

/* The program took SIGTRAP's action. A process that has ended or executed another program meanwhile
 * has no handler of ours either: the next look deals with it. */
static void leave_taken(struct target *target)
{
	if (!target_has_ended(target) && cover_is_itself(target))
		leave_for(target, COUNT_ACTIONS_TAKEN,
			  "has set an action of SIGTRAP of its own, and is left alone from now on: "
			  "started under trapline both work");
}

static void leave_endless(struct target *target)
{
	leave_for(
		target, COUNT_SEQUENCES_ENDLESS,
		"touches what is watched in a restartable sequence (rseq(2)), which each hit begins "
		"anew: it is left alone from now on");
}

static int hold_id(pid_t pid)
{
	return (int)raw_syscall3(SYS_pidfd_open, pid, 0, 0);
}

/* Has the process of this id ended, as far as ids of other namespaces let tell? */
static bool nobody_is(pid_t pid)
{
	int pidfd = hold_id(pid);
	bool ended = pidfd == -ESRCH || pidfd_has_ended(pidfd);

	if (pidfd >= 0)
		close(pidfd);
	return ended;
}

static int begin(struct target *target)
{
	struct process_status status = read_status(target->pid);
	struct program *program = target->program;
	int err = program->ways.unread ? 0
				       : space_open(&target->space, program->session, target->pid);

	if (err)
		return err;
	target->proof_address = target->shared->proof_address;
	target->proof = target->shared->proof;
	atomic_store(&target->shared->dropped, 0);
	atomic_store(&target->shared->over, 0);
	atomic_store(&target->shared->stale, 0);
	atomic_store(&target->shared->own, 0);
	atomic_store(&target->shared->unnoticed, 0);
	memset(&target->shared->newborn, 0, sizeof(target->shared->newborn));
	atomic_store(&target->shared->unsent, 0);
	atomic_store(&target->shared->endless, 0);
	memset(&target->shared->filter, 0, sizeof(target->shared->filter));
	atomic_store(&target->shared->quiet,
		     restriction_is_on(&status.restriction, target->filters));
	target->first_tracer = status.tracer;
	if (target->entered)
		confined_begin(target);
	return program->events->open(target);
}

/* Ends the watching of processes that ended without telling: killed, or ended by a library. */
static void targets_end(struct program *program)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): each entry has its own target */
		if (program->target[i] && target_has_ended(program->target[i]))
			target_end(program->target[i]);
	entries_check(program);
}

/* Ends other entries of a process that has announced itself in this one: the programs that made
 * them no longer exist. */
static void replace(struct program *program, uint32_t index, pid_t pid)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		if (i == index || entry_process(program, i) != pid)
			continue;
		if (program->target[i])
			/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): as above */
			target_end(program->target[i]);
		if (entry_process(program, i) == pid)
			entry_release(program, i);
	}
}

static void use_stacks(struct target *target)
{
	target->stacks = target->program->events->stacks(target->program, target->index);
	target->cover_version = cover_version(target);
}

static void welcome(struct program *program, uint32_t index, struct process_names *names)
{
	struct area_process *shared = &program->area->process[index];
	struct target *target;
	pid_t announced = shared->pid, pid = announced;

	if (!process_maps(program->area_fd, pid) || !process_is_named(pid, pid))
		pid = find_outside(program, names, pid);
	if (!pid) {
		count_one(program,
			  nobody_is(announced) ? COUNT_PROCESSES_ENDING : COUNT_PROCESSES_STRANGE);
		entry_answer(shared, AREA_PROCESS_LEFT);
		return;
	}
	/* The same process with a new image: the kernel has removed the old one's events. */
	replace(program, index, pid);
	if (is_debugged_within(program, pid)) {
		atomic_fetch_add(&program->area->withdrawn, 1);
		entry_answer(shared, AREA_PROCESS_LEFT);
		return;
	}
	target = calloc(1, sizeof(*target));
	if (!target) {
		count_one(program, COUNT_PROCESSES_LEFT);
		entry_answer(shared, AREA_PROCESS_LEFT);
		return;
	}
	*target = (struct target){.program = program,
				  .control = program->control,
				  .index = index,
				  .pid = pid,
				  .pidfd = hold_id(pid),
				  .entered = program->events->is_entered(program, pid),
				  .filters = program->filters,
				  .shared = shared};
	if (target->entered) {
		int known = program->events->filters(program, pid);

		target->filters = known > program->filters ? known : program->filters;
		use_stacks(target);
	}
	program->target[index] = target;
	entry_know(program, index, pid, target->pidfd);
	/* Again, since the id may have been given to another process before it was held. */
	if (target->pidfd < 0 || !process_maps(program->area_fd, pid) || begin(target)) {
		count_one(program,
			  target_has_ended(target) ? COUNT_PROCESSES_ENDING : COUNT_PROCESSES_LEFT);
		destroy(target);
		entry_leave(program, index);
		return;
	}
	count_one(program, COUNT_PROCESSES);
	program->welcomed = true;
	program->events->began(target);
	entry_answer_announced(shared);
}

/* Observes a process from outside: its entry in the area is used by the controller alone. */
int target_observe(struct program *program, pid_t pid, struct observed *observed)
{
	struct target *target = calloc(1, sizeof(*target));
	int err;

	if (!target)
		return -ENOMEM;
	*target = (struct target){.program = program,
				  .control = program->control,
				  .pid = pid,
				  .pidfd = hold_id(pid),
				  .filters = program->filters,
				  .shared = &program->area->process[0]};
	target->shared->pid = pid;
	program->target[0] = target;
	entry_know(program, 0, pid, target->pidfd);
	err = begin(target);
	if (err) {
		destroy(target);
		return err;
	}
	target->observed = observed;
	atomic_store(&target->shared->state, AREA_PROCESS_WATCHED);
	count_one(program, COUNT_PROCESSES);
	program->events->began(target);
	return 0;
}

/* A process that did not wait when it announced itself (LATE) and has lived for AREA_LATE_AGE
 * counts as one that waits. The exchange fails where it has just ended and freed its entry. */
static void consider_late(struct area_process *shared, uint64_t now)
{
	uint32_t late = AREA_PROCESS_LATE;

	if (atomic_load(&shared->state) == AREA_PROCESS_LATE &&
	    now - shared->start_time >= AREA_LATE_AGE)
		atomic_compare_exchange_strong(&shared->state, &late, AREA_PROCESS_ANNOUNCED);
}

/* Which processes have announced themselves. */
static void list_announced(const struct program *program, bool announced[AREA_PROCESSES])
{
	uint64_t now = clock_now();

	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		struct area_process *shared = &program->area->process[i];

		consider_late(shared, now);
		announced[i] = atomic_load(&shared->state) == AREA_PROCESS_ANNOUNCED;
	}
}

/* Processes that take their leave are let go at once, since some wait for it. Those that announce
 * themselves meanwhile are left to the next round: the list of names may be older than they are. */
void targets_welcome(struct program *program)
{
	struct process_names names = {0};
	bool announced[AREA_PROCESSES];

	list_announced(program, announced);
	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		struct area_process *shared = &program->area->process[i];
		uint32_t state = atomic_load(&shared->state);

		if (state == AREA_PROCESS_ANNOUNCED && entries_are_scarce(program)) {
			targets_end(program);
			state = atomic_load(&shared->state);
		}
		if (state == AREA_PROCESS_ANNOUNCED && announced[i])
			welcome(program, i, &names);
		else if (state == AREA_PROCESS_GONE && program->target[i])
			target_end(program->target[i]);
		else if (state == AREA_PROCESS_GONE)
			entry_leave(program, i);
	}
	process_names_clear(&names);
}

/*
 * A debugger that came from outside would stop at a hit as at a breakpoint that it did not set, so
 * a sampling tool waits until it has left. Watches that the user asked for stay, and so does the
 * whole watching of a process that was traced before it was watched.
 */
static void check_tracer(struct target *target, pid_t tracer)
{
	bool debugged = tracer > 0 && tracer != target->first_tracer;

	if (debugged && !target->debugged)
		count_one(target->program, COUNT_DEBUGGERS);
	target->debugged = debugged;
}

/* Looks whether a debugger, a seccomp filter or an action of the program's own for SIGTRAP came
 * since the last look; leaves the process where it can be watched no longer. */
static void check_status(struct target *target)
{
	bool beside_debuggers = target->program->ways.beside_debuggers;
	struct process_status status;

	if (beside_debuggers && !target->entered && atomic_load(&target->shared->quiet))
		return;
	status = read_status(target->pid);
	if (!beside_debuggers)
		check_tracer(target, status.tracer);
	if (restriction_is_on(&status.restriction, target->filters))
		atomic_store(&target->shared->quiet, 1);
	/* In a process attached to nothing is interposed that would tell of sigaction(2). */
	if (target->entered && (!inject_is_in_place(target->pid) || taken_look(target))) {
		leave_taken(target);
	} else if (status.restriction.mode == SECCOMP_MODE_STRICT ||
		   (target->entered && !confined_look(target))) {
		leave(target);
	}
}

/* Ends the watching of a process whose new program did not announce itself: its events are gone,
 * and nothing is noted any more. */
static void lose(struct target *target)
{
	struct program *program = target->program;
	uint32_t index = target->index;
	char name[PROCESS_NAME];

	count_one(program, COUNT_PROCESSES_LOST);
	if (target->pid == program->child) {
		process_name(target->pid, name);
		say("%s (%d), which the program has become, could not be entered and is "
		    "not watched",
		    name, (int)target->pid);
	}
	target_end(target);
	entry_release(program, index);
}

/* Has the process executed yet another program since the last look? Each has its stack at another
 * address, unless addresses are not random (personality(2)). */
static bool has_changed_again(struct target *target)
{
	uint64_t stack = stat_file_number(target->pid, 0, STAT_STARTSTACK);
	bool is_other = stack != target->changed_stack;

	target->changed_stack = stack;
	return is_other;
}

/* False: the process has become another program, whose announcement, or whose asking for the area,
 * did not come in time. */
static bool check_itself(struct target *target)
{
	uint64_t now = clock_now();

	if (cover_is_itself(target)) {
		target->changed = 0;
		return true;
	}
	if (!target->changed)
		handover_expect(target->program, target->pid);
	if (has_changed_again(target) || !target->changed)
		target->changed = now;
	else if (now - target->changed > ANNOUNCE_PATIENCE)
		lose(target);
	return false;
}

static void check_target(struct target *target)
{
	if (target_has_ended(target)) {
		target_end(target);
		return;
	}
	if (!target->observed && !check_itself(target))
		return;
	if (atomic_load(&target->shared->endless)) {
		leave_endless(target);
		return;
	}
	cover_look_again(target);
	slots_suit_cover(target);
	if (target->program->events->check(target))
		check_status(target);
}

void targets_check(struct program *program)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++)
		if (program->target[i])
			check_target(program->target[i]);
	entries_check(program);
}

struct target *target_find(const struct program *program, pid_t pid)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): each entry has its own target */
		if (program->target[i] && program->target[i]->pid == pid)
			return program->target[i];
	return NULL;
}
