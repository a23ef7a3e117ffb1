/* SPDX-License-Identifier: Apache-2.0 */
#include "arrival/enter.h"

#include "program/entries.h"
#include "base/clock.h"
#include "base/pidfd.h"
#include "inject/remote.h"
#include "inject/stacks.h"
#include "process/children.h"
#include "process/identity.h"
#include "process/say.h"

#include "base/syscall.h"
#include "event/threads.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define ENDING_MILLISECONDS 50 /* that one which could not be left has to end in */
#define HOLD_USUAL SECOND      /* ns, as the preload library has it (src/contact/announce.c) */
#define GENERATIONS_MAX 16
#define PASSED_MAX 1024

struct entered {
	struct injection injection[AREA_PROCESSES];
	struct inject_stacks stacks[AREA_PROCESSES]; /* by the entry's number */
	unsigned count, total;
	struct thread_set passed; /* children for which there was no room, as counted */
	struct thread_set seen;	  /* children that were there at the last look */
	uint64_t longest;
	uint64_t until;	  /* ns when the watching ends; 0: never by itself */
	bool expected;	  /* the child stops before its program's first instruction, … */
	bool sets_action; /* … or when its runtime has set its actions of signals */
};

static const struct injection *find(const struct program *program, pid_t pid)
{
	for (unsigned i = 0; program->entered && i < program->entered->count; i++)
		if (program->entered->injection[i].pid == pid)
			return &program->entered->injection[i];
	return NULL;
}

bool entered_is(const struct program *program, pid_t pid)
{
	return find(program, pid) != NULL;
}

int entered_filters(const struct program *program, pid_t pid)
{
	return entered_is(program, pid) ? find(program, pid)->filters : 0;
}

bool entered_is_held(const struct program *program, pid_t pid)
{
	const struct injection *injection = find(program, pid);

	return injection && injection->held;
}

bool entered_is_over(const struct program *program)
{
	const struct entered *entered = program->entered;

	return entered && entered->until && clock_now() > entered->until;
}

const struct inject_stacks *entered_stacks(const struct program *program, uint32_t index)
{
	return &program->entered->stacks[index];
}

/* ---- entering ----------------------------------------------------------------------------- */

/* -1: none is free. */
static int claim_entry(struct program *program, pid_t inside)
{
	for (int i = 0; i < AREA_PROCESSES; i++) {
		struct area_process *shared = &program->area->process[i];
		pid_t none = 0;

		if (!__atomic_compare_exchange_n(&shared->pid, &none, inside, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		atomic_store(&shared->state, AREA_PROCESS_CLAIMED);
		return i;
	}
	return -1;
}

/* What src/contact/announce.c and credit_reset() write. No thread has an account; new ones are paid
 * for from now on. */
static void fill_entry(struct area_process *shared, pid_t pid, uint64_t proof_address,
		       uint64_t proof)
{
	uint64_t now = clock_now();

	shared->start_time = now;
	shared->quiet = 0;
	atomic_store(&shared->waits, 0);
	shared->threads = 0;
	shared->proof_address = proof_address;
	shared->proof = proof;
	shared->thread_pointer = 0;
	memset(&shared->heap, 0, sizeof(shared->heap));
	atomic_store(&shared->allocations, 0);
	memset(shared->credit, 0, sizeof(shared->credit));
	atomic_store(&shared->newcomers.until, now);
	atomic_store(&shared->lanes, 1);
	for (unsigned i = 0; i < AREA_LIMITS; i++) {
		shared->limit_earned[i] = now;
		shared->limit_clock[i] = clock_read(clock_of_process(pid));
	}
	shared->children_time = 0;
}

static void look_at_stacks(struct program *program, struct injection *injection)
{
	struct inject_stacks *stacks = &program->entered->stacks[injection->index];
	unsigned before = stacks->found;
	char name[PROCESS_NAME];

	inject_stacks_look(injection, stacks);
	program->count[COUNT_THREADS_CRAMPED] += stacks->found - before;
	if (before || !stacks->found)
		return;
	process_name(injection->pid, name);
	say("handlers of %s (%d) run on alternate stacks that leave no room for a hit: threads "
	    "with such a stack are not watched; started under trapline all are",
	    name, (int)injection->pid);
}

/* From here on it is a process like others: welcome() finds it. */
static void announce(struct program *program, const struct injection *injection, int index)
{
	struct area_process *shared = &program->area->process[index];
	uint64_t own = injection->area + offsetof(struct area, process) +
		       (uint64_t)index * sizeof(struct area_process);

	fill_entry(shared, injection->pid,
		   injection->state + offsetof(struct injected_state, process), own);
	atomic_store(&shared->state, AREA_PROCESS_ANNOUNCED);
}

static void give_back(struct area_process *shared)
{
	atomic_store(&shared->state, AREA_PROCESS_FREE);
	__atomic_store_n(&shared->pid, 0, __ATOMIC_RELEASE);
}

/* What a controller left behind that has died. */
static int remove_old(pid_t pid, struct inject_reason *reason)
{
	struct injection old;
	int found = inject_find(pid, &old, reason);

	return found == 1 ? inject_leave(&old, reason) : found;
}

/* Nothing of ours is in it any more. */
static int has_gone(struct injection *injection, struct inject_reason *reason)
{
	bool ended = pidfd_has_ended(injection->pidfd);
	pid_t pid = injection->pid;

	inject_go(injection);
	close(injection->pidfd);
	injection->pidfd = -1;
	if (ended)
		snprintf(reason->text, sizeof(reason->text), "process %d has ended", (int)pid);
	else
		snprintf(reason->text, sizeof(reason->text),
			 "process %d has become another program: try again", (int)pid);
	return ended ? -ESRCH : -EAGAIN;
}

typedef int enter_fn(const struct inject_request *request, struct injection *injection,
		     struct inject_reason *reason);

static int enter(struct program *program, pid_t pid, int index, enter_fn *way,
		 struct inject_reason *reason)
{
	struct entered *entered = program->entered;
	struct injection *injection = &entered->injection[entered->count];
	const struct inject_request request = {
		.pid = pid,
		.area_fd = program->area_fd,
		.area_size = sizeof(struct area),
		.entry_offset = offsetof(struct area, process) +
				(uint64_t)index * sizeof(struct area_process),
		.index = (uint32_t)index,
		.hold_most = program->area->hold_most ? program->area->hold_most : HOLD_USUAL,
		.sets_action = entered->sets_action,
	};
	int err = way(&request, injection, reason);

	if (err)
		return err;
	if (entered->longest < injection->stopped)
		entered->longest = injection->stopped;
	/* It may have ended or executed something at that very moment. */
	if (!inject_is_in_place(pid))
		return has_gone(injection, reason);
	entered->count++;
	entered->total++;
	inject_stacks_destroy(&entered->stacks[index]);
	if (!injection->held)
		look_at_stacks(program, injection);
	announce(program, injection, index);
	return 0;
}

static int begin(struct program *program)
{
	if (program->entered)
		return 0;
	program->entered = calloc(1, sizeof(*program->entered));
	if (!program->entered)
		return -ENOMEM;
	if (program->options.duration)
		program->entered->until =
			clock_now() + program->options.start_delay + program->options.duration;
	return 0;
}

static int enter_by(struct program *program, pid_t pid, enter_fn *way, struct inject_reason *reason)
{
	pid_t inside = process_name_inside(pid);
	int index = claim_entry(program, inside ? inside : pid), err;

	if (index < 0 || program->entered->count == AREA_PROCESSES) {
		snprintf(reason->text, sizeof(reason->text),
			 "%d processes are watched already, and no more can be", AREA_PROCESSES);
		return -ENOSPC;
	}
	err = enter(program, pid, index, way, reason);
	if (err)
		give_back(&program->area->process[index]);
	return err;
}

void entered_expect(struct program *program, pid_t child, enum enter_when entry)
{
	if (!entry || begin(program))
		return;
	/* Our action would be replaced, were it there before. */
	program->entered->sets_action = entry == ENTER_LATE;
	program->entered->expected = !inject_expect(child);
}

void entered_start(struct program *program, pid_t child, enum enter_when entry)
{
	struct inject_reason reason = {""};
	int err;

	if (!entry)
		return;
	err = begin(program);
	if (!err) {
		/* What cannot be stopped there cannot be entered later either, which tells why. */
		err = enter_by(program, child,
			       program->entered->expected ? inject_enter_expected : inject_enter,
			       &reason);
	}
	if (err && err != -ESRCH)
		say("%s; it runs unwatched", reason.text);
	if (program->entered)
		program->entered->until = 0;
}

/* One that was entered before its first instruction waits there for its events. */
void entered_go(struct program *program)
{
	struct entered *entered = program->entered;

	for (unsigned i = 0; entered && i < entered->count; i++) {
		struct injection *injection = &entered->injection[i];

		if (injection->held &&
		    atomic_load(&program->area->process[injection->index].state) !=
			    AREA_PROCESS_ANNOUNCED)
			inject_go(injection);
	}
}

/* ---- children ----------------------------------------------------------------------------- */

/* A forked child has its parent's memory, with the handler, the area and the action, and none of
 * its events. Handlers that ran in other threads when it was made do not run in it. */
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

/* It has memory of its own and our action: not a child that borrows its parent's memory (vfork(2),
 * clone(2) with CLONE_VM), whose state there is the parent's. In doubt it is left alone. */
static bool is_adoptable(const struct injection *parent, pid_t child)
{
	return raw_syscall6(SYS_kcmp, parent->pid, child, KCMP_VM, 0, 0, 0) > 0 &&
	       inject_is_in_place(child);
}

/* The actions are its parent's; its one thread is asked. */
static void inherit_stacks(struct entered *entered, const struct injection *parent, int index)
{
	const struct inject_stacks *known = &entered->stacks[parent->index];

	inject_stacks_destroy(&entered->stacks[index]);
	entered->stacks[index].asked = known->asked;
	entered->stacks[index].exposed = known->exposed;
	entered->stacks[index].nested = known->nested;
}

/* Each is counted once, though it is met again at each look: there may be room for it then. Where
 * very many come and go, some are counted twice. */
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

static void adopt(struct program *program, const struct injection *parent, pid_t child)
{
	struct entered *entered = program->entered;
	struct injection *injection = &entered->injection[entered->count];
	pid_t inside = process_name_inside(child);
	int index = -1;

	if (!process_maps(program->area_fd, child) || !is_adoptable(parent, child))
		return;
	if (entered->count < AREA_PROCESSES)
		index = claim_entry(program, inside ? inside : child);
	if (index < 0) {
		pass_by(program, child);
		return;
	}
	*injection = *parent;
	injection->pid = child;
	injection->index = (uint32_t)index;
	injection->pidfd = (int)raw_syscall3(SYS_pidfd_open, child, 0, 0);
	if (injection->pidfd < 0 || tell_child(program, injection, index)) {
		if (injection->pidfd >= 0)
			close(injection->pidfd);
		give_back(&program->area->process[index]);
		return;
	}
	entered->count++;
	entered->total++;
	inherit_stacks(entered, parent, index);
	look_at_stacks(program, injection);
	announce(program, injection, index);
}

static int enter_running(struct program *program, pid_t pid, struct inject_reason *reason)
{
	int err = remove_old(pid, reason);

	return err ? err : enter_by(program, pid, inject_enter, reason);
}

/* One that cannot be entered is left alone, and its own children are looked at all the same. It is
 * said of the first, but not where nothing was entered before it: as a rule the process itself was
 * refused for the same reason, which is said then. */
static void enter_child(struct program *program, pid_t child, struct inject_reason *reason)
{
	int err = enter_running(program, child, reason);

	if (!err || err == -ESRCH)
		return;
	if (!program->count[COUNT_CHILDREN_REFUSED] && program->entered->count)
		say("%s; this child is not watched", reason->text);
	count_one(program, COUNT_CHILDREN_REFUSED);
}

/* Children that a process made before it was entered, and theirs. */
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
		enter_child(program, found, &reason);
		if (depth < GENERATIONS_MAX)
			enter_descendants(program, found, depth + 1);
	}
	thread_set_destroy(&children);
}

/* A process that cannot be entered may have children that do all the work (a server's workers). */
int enter_process(struct program *program, pid_t pid, struct inject_reason *reason)
{
	int err = begin(program);

	if (!err)
		err = enter_running(program, pid, reason);
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

/* Those that were there at the last look: who confines a child by seccomp does so as it begins. */
static void look_at_children(struct program *program)
{
	struct entered *entered = program->entered;
	struct thread_set seen = {0};

	forget_ended(entered);
	for (unsigned i = 0; program->options.follow && i < entered->count; i++) {
		struct thread_set children = {0};

		children_list(&children, entered->injection[i].pid, CHILDREN_ALL_THREADS);
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
	look_at_children(program);
	for (unsigned i = 0; i < entered->count; i++)
		if (!entered->injection[i].held)
			look_at_stacks(program, &entered->injection[i]);
}

/* ---- leaving ------------------------------------------------------------------------------ */

/* Of a process that ends meanwhile the kernel permits and shows nothing, for reasons that are not
 * its own. */
static bool is_ending(const struct injection *injection)
{
	struct pollfd end = {injection->pidfd, POLLIN, 0};

	return injection->pidfd >= 0 && poll(&end, 1, ENDING_MILLISECONDS) > 0;
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

	if (entered_is(program, child) || !process_maps(program->area_fd, child) ||
	    !is_adoptable(parent, child))
		return;
	injection.pid = child;
	injection.pidfd = (int)raw_syscall3(SYS_pidfd_open, child, 0, 0);
	/* Handlers that ran in its parent's other threads do not run in it. */
	if (injection.pidfd < 0)
		return;
	if (process_vm_writev(child, &local, 1, &entered, 1, 0) < 0)
		close(injection.pidfd);
	else
		leave(program, &injection);
}

/*
 * What it has forked by now, and never will again: what is forked from now on has nothing of ours.
 * Those of a child are looked at when it has been left in turn, as deep as they go. Accepted loss:
 * a child whose parent has ended since is nobody's that we know. What stays there lets everything
 * pass.
 */
static void leave_strays(struct program *program, const struct injection *parent)
{
	struct thread_set children = {0};

	children_list(&children, parent->pid, CHILDREN_ALL_THREADS);
	for (size_t i = 0; i < children.count; i++)
		leave_stray(program, parent, children.tids[i]);
	thread_set_destroy(&children);
}

static void leave(struct program *program, struct injection *injection)
{
	const struct injection was = *injection;
	struct entered *entered = program->entered;
	struct inject_reason reason = {""};
	pid_t pid = injection->pid;
	int err;

	inject_go(injection);
	err = inject_leave(injection, &reason);

	if (entered->longest < injection->stopped)
		entered->longest = injection->stopped;
	/* That children execute programs is what they are made for. */
	if (err == -ESTALE && pid == program->root)
		say("%s", reason.text);
	else if (err && err != -ESRCH && err != -ESTALE && !is_ending(injection))
		say("%s (process %d keeps trapline's handler)", reason.text, (int)pid);
	leave_strays(program, &was);
}

void enter_leave(struct program *program)
{
	struct entered *entered = program->entered;

	if (!entered)
		return;
	/* A child that was forked in the last moment has the handler too. */
	look_at_children(program);
	for (unsigned i = 0; i < entered->count; i++)
		leave(program, &entered->injection[i]);
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		inject_stacks_destroy(&entered->stacks[i]);
	remote_part_with_late();
	thread_set_destroy(&entered->passed);
	thread_set_destroy(&entered->seen);
	entered->count = 0;
	program->count[COUNT_ENTERED] = entered->total;
	program->count[COUNT_ENTERED_STOP] = entered->longest;
}
