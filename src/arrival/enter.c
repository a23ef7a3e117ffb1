/* SPDX-License-Identifier: Apache-2.0 */
#include "arrival/entered.h"

#include "program/entries.h"
#include "base/clock.h"
#include "base/pidfd.h"
#include "inject/turn.h"
#include "process/identity.h"
#include "process/say.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct injection *entered_injection(const struct program *program, pid_t pid)
{
	for (unsigned i = 0; program->entered && i < program->entered->count; i++)
		if (program->entered->injection[i].pid == pid)
			return &program->entered->injection[i];
	return NULL;
}

bool entered_is(const struct program *program, pid_t pid)
{
	return entered_injection(program, pid) != NULL;
}

int entered_filters(const struct program *program, pid_t pid)
{
	return entered_is(program, pid) ? entered_injection(program, pid)->filters : 0;
}

bool entered_is_held(const struct program *program, pid_t pid)
{
	const struct injection *injection = entered_injection(program, pid);

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

int entered_claim(struct program *program, pid_t inside)
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

void entered_look_at_stacks(struct program *program, struct injection *injection)
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

void entered_announce(struct program *program, const struct injection *injection, int index)
{
	struct area_process *shared = &program->area->process[index];
	uint64_t own = injection->area + offsetof(struct area, process) +
		       (uint64_t)index * sizeof(struct area_process);

	fill_entry(shared, injection->pid,
		   injection->state + offsetof(struct injected_state, process), own);
	atomic_store(&shared->state, AREA_PROCESS_ANNOUNCED);
}

void entered_give_back(struct program *program, int index)
{
	struct area_process *shared = &program->area->process[index];

	atomic_store(&shared->state, AREA_PROCESS_FREE);
	__atomic_store_n(&shared->pid, 0, __ATOMIC_RELEASE);
}

/* Removes what a controller that has died left behind. */
static int remove_old(pid_t pid, struct inject_reason *reason)
{
	struct injection old;
	int found = inject_find(pid, &old, reason);

	return found == 1 ? inject_leave(&old, reason) : found;
}

/* Notes that nothing of ours is in the process any more. */
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

static int enter(struct program *program, pid_t pid, int pidfd, int index, enter_fn *way,
		 struct inject_reason *reason)
{
	struct entered *entered = program->entered;
	struct injection *injection = &entered->injection[entered->count];
	const struct inject_request request = {
		.pid = pid,
		.pidfd = pidfd,
		.area_fd = program->area_fd,
		.area_size = sizeof(struct area),
		.entry_offset = offsetof(struct area, process) +
				(uint64_t)index * sizeof(struct area_process),
		.index = (uint32_t)index,
		.hold_most = program->area->hold_most ? program->area->hold_most : HOLD_USUAL,
		/* Limits are looked at seldom, and nobody looks for a new filter before that: one
		 * that kills for the prctl(2) which the vDSO's clock takes need not be met. */
		.calls_clock = program->ways.unread,
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
		entered_look_at_stacks(program, injection);
	entered_announce(program, injection, index);
	return 0;
}

int entered_begin(struct program *program)
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

static int enter_by(struct program *program, pid_t pid, int pidfd, enter_fn *way,
		    struct inject_reason *reason)
{
	pid_t inside = process_name_inside(pid);
	int index = -1, err;

	if (program->entered->count < AREA_PROCESSES)
		index = entered_claim(program, inside ? inside : pid);
	if (index < 0) {
		snprintf(reason->text, sizeof(reason->text),
			 "%d processes are watched already, and no more can be", AREA_PROCESSES);
		if (pidfd >= 0)
			close(pidfd);
		return -ENOSPC;
	}
	err = enter(program, pid, pidfd, index, way, reason);
	if (err)
		entered_give_back(program, index);
	return err;
}

void entered_expect(struct program *program, pid_t child, enum enter_when entry)
{
	if (!entry || entered_begin(program))
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
	err = entered_begin(program);
	if (!err) {
		/* What cannot be stopped there cannot be entered later either, which tells why. */
		err = enter_by(program, child, -1,
			       program->entered->expected ? inject_enter_expected : inject_enter,
			       &reason);
	}
	if (err && err != -ESRCH)
		say("%s; it runs unwatched", reason.text);
	if (program->entered)
		program->entered->until = 0;
}

/* Lets a process go that was entered before its first instruction and waits there for its
 * events. */
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

int entered_enter(struct program *program, pid_t pid, int pidfd, struct inject_reason *reason)
{
	int turn = turn_begin(pid), err = remove_old(pid, reason);

	if (!err)
		err = enter_by(program, pid, pidfd, inject_enter, reason);
	else if (pidfd >= 0)
		close(pidfd);
	turn_end(turn);
	return err;
}
