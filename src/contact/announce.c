/* SPDX-License-Identifier: Apache-2.0 */
/* A process makes itself known to the controller, and says good-bye. */
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

#define HOLD_USUAL 1000000000u	/* ns */
#define FIRST_BOUND 1000000000u /* ns for who is the first to wait, which may be all there is */
#define WAIT_LEAST 1000000u	/* ns: what one that waits costs besides, as it is looked at */
#define CLOCK_BEHIND \
	(60 * 1000000000ull)	   /* ns: the controller looks sooner, unless it is stopped */
#define REPORT_BOUND 2000000000ull /* ns that a program waits for its own report */
/* ns that a program waits before it does what a hit would harm: where debug traps are its own, or
 * every call is. A controller that is slow is waited for; of one that is dead no event is left. */
#define GIVE_UP_BOUND 10000000000ull

static struct area_process *claim_entry(struct area *area, uint32_t *index)
{
	pid_t own = raw_getpid();

	/* The id first: it is known whose the entry is however soon this process is killed. */
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

/* Asked of the kernel: the instruction may not be allowed (asm/prctl.h, ARCH_GET_FS). */
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
	/* Set right after: execve(2) leaves neither the address nor what is there. */
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
 * In another time namespace (time_namespaces(7)) the clock is ahead or behind by what may be years,
 * and everything here is told in its times: what such a process pays for would be owed by all
 * others for as long. The name tells; it is looked at where the clock gives a reason. Where it
 * cannot be read, since a filter forbids that or there is no /proc, one that is behind is in
 * another: ahead of the controller's last look is also who comes while that is stopped.
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

/* Without this a start that a busy machine makes long would leave the program that a shell then
 * executes unwatched. One that executes itself for ever is soon among the others. */
static bool is_spared(struct area *area)
{
	pid_t own = raw_getpid(), none = 0;

	if (!atomic_compare_exchange_strong(&area->waits.first, &none, own) && none != own)
		return false;
	return atomic_fetch_add(&area->waits.starts, 1) < AREA_SPARED_STARTS;
}

/* Several that look at once may all wait: what that takes is owed, and later ones do not. */
static bool may_wait(const struct area *area)
{
	return !atomic_load(&area->waits.on) || area->guard.all || area->root == raw_getpid() ||
	       __atomic_load_n(&area->waits.earned, __ATOMIC_RELAXED) <= agent_now();
}

/* The process runs on unwatched, for now. The controller finds its entry when it looks by itself;
 * it is woken only where half of the entries are taken. */
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

/* A vfork()ed child sees its parent's entry. */
static bool is_own(const struct area_process *process)
{
	return permitted(SYS_getpid) && process->pid == raw_getpid();
}

/* CLAIMED meanwhile: the controller, which would watch it, does not find it any more. */
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
	/* Under a filter every call may be the last: the controller looks by itself. */
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
	/* Handlers that began before and still make calls: a hold is a few milliseconds at most. */
	for (int i = 0; i < 100 && atomic_load(&agent_state.handlers); i++)
		raw_nanosleep(100000);
}
