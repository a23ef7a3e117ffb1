/* SPDX-License-Identifier: Apache-2.0 */
/* A process announces itself to the controller, and withdraws. */
#include "contact/announce.h"

#include "agent/guard.h"
#include "agent/permitted.h"
#include "agent/region.h"
#include "agent/state.h"
#include "allowance/credit.h"
#include "allowance/throttle.h"
#include "base/syscall.h"
#include "contact/patience.h"

#include <asm/prctl.h>
#include <stdatomic.h>
#include <string.h>

#define HOLD_USUAL 1000000000u /* ns */
/* ns; the bound of the first wait is no less than this: there may be no other process. */
#define FIRST_BOUND 1000000000u
/* ns that each wait is charged at least, for the controller's look at the process. */
#define WAIT_LEAST 1000000u
/* ns; the controller looks more often than this, unless it is stopped. */
#define CLOCK_BEHIND (60 * 1000000000ull)
#define REPORT_BOUND 2000000000ull /* ns that a program waits for its own report */
/* ns that a program waits for the end of its watching, before it does what a hit would break: it
 * asks for debug traps of its own, or has all its system calls dispatched. A slow controller is
 * waited for; of a dead one no events are left. */
#define GIVE_UP_BOUND 10000000000ull

static struct area_process *claim_entry(struct area *area, uint32_t *index)
{
	pid_t own = raw_getpid();

	/* The process id is written first, so that the controller can tell whose entry it is even
	 * if this process is killed at any point from here on. */
	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		struct area_process *process = &area->process[i];
		pid_t none = 0;

		if (__atomic_compare_exchange_n(&process->pid, &none, own, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			atomic_store(&process->state, AREA_PROCESS_CLAIMED);
			*index = i;
			return process;
		}
	}
	return NULL;
}

/* Asks the kernel, since the instruction that reads it may not be allowed (asm/prctl.h,
 * ARCH_GET_FS). */
static uint64_t thread_pointer(void)
{
	uint64_t pointer = 0;

	raw_syscall3(SYS_arch_prctl, ARCH_GET_FS, (long)&pointer, 0);
	return pointer;
}

static void reset_entry(struct area_process *process)
{
	process->parent = (pid_t)raw_syscall3(SYS_getppid, 0, 0, 0);
	process->start_time = agent_now();
	process->quiet = 0;
	atomic_store(&process->waits, 0);
	process->threads = 0;
	/* `agent_state.process` is set right after this. By this word the controller tells that the
	 * process has not executed another program: execve(2) unmaps it. */
	process->proof_address = (uint64_t)&agent_state.process;
	process->proof = (uint64_t)process;
	process->thread_pointer = thread_pointer();
	memset(&process->heap, 0, sizeof(process->heap));
	/* A forked child's blocks are where its parent's were. */
	atomic_store(&process->allocations, agent_state.allocations);
	atomic_store(&process->allocations_noted, 0);
	atomic_store(&process->allocations_passed, 0);
	atomic_store(&process->allocations_replaced, 0);
	atomic_store(&process->regions_ended, 0);
	atomic_store(&process->regions_frozen, 0);
	agent_state.hold_most = agent_state.area->hold_most ? agent_state.area->hold_most
							    : HOLD_USUAL;
	credit_reset(agent_state.area, process, process->start_time);
}

/*
 * In another time namespace (time_namespaces(7)) CLOCK_MONOTONIC may be years ahead or behind, and
 * every time in the area is of that clock: what such a process is charged would be owed by all
 * others for as long. The namespace's name tells, and is read only where the clocks give a reason.
 * Where it cannot be read (a seccomp filter, no /proc), a process whose clock is behind the
 * controller's is taken to be in another namespace. One that is ahead is not: a stopped controller
 * looks the same.
 */
static bool has_other_clock(const struct area *area)
{
	uint64_t seen = atomic_load_explicit(&area->clock, memory_order_relaxed), now = agent_now();
	char name[AREA_NAMESPACE];
	size_t known = strnlen(area->time_namespace, AREA_NAMESPACE);
	long length = -1;

	if (!seen || !known || (now >= seen && now - seen < CLOCK_BEHIND))
		return false;
	if (permitted(SYS_readlink))
		length = raw_syscall3(SYS_readlink, (long)"/proc/self/ns/time", (long)name,
				      sizeof(name));
	if (length < 0)
		return now < seen;
	return length != (long)known || memcmp(name, area->time_namespace, known) != 0;
}

static uint64_t go_bound(const struct area *area)
{
	bool is_first = atomic_load(&area->waits.waited) == 0;

	return is_first && area->announce_bound < FIRST_BOUND ? FIRST_BOUND : area->announce_bound;
}

static void wait_for_go(struct area_process *process, bool spared)
{
	struct area *area = agent_state.area;
	struct patience patience = patience_begin(go_bound(area));
	uint64_t begun = agent_now(), now;

	while (atomic_load(&process->state) == AREA_PROCESS_ANNOUNCED &&
	       patience_wait(&patience, &process->state, AREA_PROCESS_ANNOUNCED))
		;
	atomic_store(&process->waits, 0);
	now = agent_now();
	atomic_fetch_add(&area->waits.waited, now - begun);
	if (atomic_load(&area->waits.on) && !spared)
		rate_charge(&area->waits.earned, &area->waits.rate,
			    now - begun > WAIT_LEAST ? now - begun : WAIT_LEAST, now);
}

/* The first AREA_SPARED_STARTS starts in the first process that announced itself always wait.
 * Otherwise a slow start on a busy machine would use up what may be waited, and the program that a
 * shell executes next would run unwatched. A process that executes itself for ever soon counts as
 * any other. */
static bool is_spared(struct area *area)
{
	pid_t own = raw_getpid(), none = 0;

	if (!atomic_compare_exchange_strong(&area->waits.first, &none, own) && none != own)
		return false;
	return atomic_fetch_add(&area->waits.starts, 1) < AREA_SPARED_STARTS;
}

/* Processes that ask at the same moment may all wait: together they then owe more than was earned,
 * and later ones do not wait. */
static bool may_wait(const struct area *area)
{
	return !atomic_load(&area->waits.on) || area->guard.all || area->root == raw_getpid() ||
	       __atomic_load_n(&area->waits.earned, __ATOMIC_RELAXED) <= agent_now();
}

/* The process runs on unwatched for now. The controller finds its entry at its next look; it is
 * woken only where the entries are more than half taken. */
static void go_on(struct area *area, struct area_process *process)
{
	atomic_fetch_add(&area->waits.passed, 1);
	atomic_store(&process->state, AREA_PROCESS_LATE);
	if (agent_state.index >= AREA_PROCESSES / 2)
		area_ring(area);
}

static void announce(struct area *area, struct area_process *process, bool spared)
{
	atomic_store(&process->waits, 1);
	atomic_store(&process->state, AREA_PROCESS_ANNOUNCED);
	area_ring(area);
	wait_for_go(process, spared);
}

void agent_announce(void)
{
	struct area *area = agent_state.area;
	struct area_process *process;
	bool spared, waits;

	agent_state.process = NULL;
	if (!area || area_is_closed(area))
		return;
	if (has_other_clock(area)) {
		atomic_fetch_add(&area->withdrawn, 1);
		return;
	}
	process = claim_entry(area, &agent_state.index);
	if (!process) {
		atomic_fetch_add(&area->without_entry, 1);
		return;
	}
	reset_entry(process);
	throttle_enter(area, process);
	spared = is_spared(area);
	waits = spared || may_wait(area);
	if (agent_state.guard)
		agent_state.guard->begin(process, waits);
	agent_state.process = process;
	if (!waits) {
		go_on(area, process);
		return;
	}
	announce(area, process, spared);
	if (agent_state.guard)
		agent_state.guard->begun(process);
	if (agent_state.regions)
		agent_state.regions->follow();
	throttle_begin();
}

void agent_hurry(struct area_process *process)
{
	uint32_t late = AREA_PROCESS_LATE;

	if (!atomic_compare_exchange_strong(&process->state, &late, AREA_PROCESS_ANNOUNCED))
		return;
	area_ring(agent_state.area);
	wait_for_go(process, false);
}

/* False in a vfork()ed child, which sees its parent's entry. */
static bool is_own(const struct area_process *process)
{
	return permitted(SYS_getpid) && process->pid == raw_getpid();
}

/* The entry is CLAIMED meanwhile, so that the controller does not find it and begin to watch a
 * process that leaves. */
bool agent_take_back(void)
{
	struct area_process *process = agent_state.process;
	uint32_t late = AREA_PROCESS_LATE;

	if (!process || !agent_is_late(process) || !is_own(process) ||
	    !atomic_compare_exchange_strong(&process->state, &late, AREA_PROCESS_CLAIMED))
		return false;
	agent_state.process = NULL;
	atomic_store(&process->state, AREA_PROCESS_FREE);
	__atomic_store_n(&process->pid, 0, __ATOMIC_RELEASE);
	return true;
}

bool agent_end_late(void)
{
	bool ended = agent_take_back();

	if (ended)
		atomic_fetch_add(&agent_state.area->waits.ended, 1);
	return ended;
}

/* Is the process watched, or does the controller still have to open its events? */
static bool is_here(uint32_t state)
{
	return state == AREA_PROCESS_WATCHED || state == AREA_PROCESS_ANNOUNCED ||
	       state == AREA_PROCESS_LATE;
}

static void wait_until_gone(struct area_process *process, uint64_t bound)
{
	struct patience patience = patience_begin_firm(bound);

	while (atomic_load(&process->state) == AREA_PROCESS_GONE &&
	       patience_wait(&patience, &process->state, AREA_PROCESS_GONE))
		;
}

static void withdraw(uint64_t bound)
{
	struct area_process *process = agent_state.process;

	if (!process || agent_take_back())
		return;
	agent_state.process = NULL;
	atomic_store(&process->state, AREA_PROCESS_GONE);
	/* Where a seccomp filter is set any system call may kill: nobody is woken, the controller
	 * sees the change at its next look. */
	if (atomic_load(&process->quiet))
		return;
	area_ring(agent_state.area);
	wait_until_gone(process, bound);
}

void agent_withdraw(void)
{
	withdraw(REPORT_BOUND);
}

void agent_give_up(void)
{
	if (agent_state.process)
		atomic_fetch_add(&agent_state.area->withdrawn, 1);
	if (agent_state.regions)
		agent_state.regions->close();
	withdraw(GIVE_UP_BOUND);
}

void agent_give_up_other(struct area_process *process)
{
	struct area *area = agent_state.area;
	uint32_t state = atomic_load(&process->state);

	do
		if (!is_here(state))
			return;
	while (!atomic_compare_exchange_weak(&process->state, &state, AREA_PROCESS_GONE));
	atomic_fetch_add(&area->withdrawn, 1);
	area_ring(area);
	wait_until_gone(process, GIVE_UP_BOUND);
}

void agent_be_quiet(void)
{
	struct area_process *process = agent_state.process;

	agent_state.quiet = true;
	if (!process || atomic_exchange(&process->quiet, 1))
		return;
	throttle_wake(agent_state.area);
	/* Waits for handlers that began before and may still make system calls. A hold lasts a few
	 * milliseconds at most. */
	for (int i = 0; i < 100 && atomic_load(&agent_state.handlers); i++)
		raw_nanosleep(100000);
}
