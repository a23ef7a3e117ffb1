/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler of a hit: it notes where the thread is, wakes the controller, holds the thread, and
 * lets it go on.
 *
 * It runs in the thread that made the access, right after the access or right before it
 * (insn/hooks.h says which for data watchpoints of the architecture; execution breakpoints always
 * trap before). Between entry and exit the thread does nothing that could order another thread's
 * accesses after its own; that is why two overlapping holds at one address prove a race.
 *
 * The handler never touches the watched memory itself: that would trip the watchpoint again. The
 * kernel copies it (process_vm_readv(2)), which a watchpoint that excludes the kernel does not see.
 */
#include "handler/handler.h"

#include "agent/arch.h"
#include "agent/region.h"
#include "agent/state.h"
#include "allowance/credit.h"
#include "allowance/throttle.h"
#include "base/perf_siginfo.h"
#include "base/syscall.h"
#include "handler/choose.h"
#include "handler/note.h"
#include "handler/own_frame.h"
#include "handler/sequence.h"
#include "mask/mask.h"
#include "signal/interrupted.h"
#include "signal/ownership.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>

#define WAIT_MOST 1000000000u /* ns of one wait for a record */
/* ns of one sleep in a hold: a controller that dies wakes nobody, so each thread looks by itself.
 */
#define HOLD_SLICE 500000000
/* ns; a shorter wait without a free record is not counted as in vain. */
#define VAIN_LEAST 100000000u
/* Waits in vain in a row, after which no thread waits until a record is free again. */
#define VAIN_MOST 4
#define RECORD_PAUSE 50000u /* ns between two looks for a free record */
/* Hits of a slot's watch from which on also unheld hits wake the controller. */
#define ALONE_RING 6
#define HOLDS_ALONE 2	   /* holds of a watch's only thread, until a second thread has hit it */
#define INSIDE_MAX 100000u /* ns of one handler's own time that are charged to its hit */
/* In a rhythmic slot one of so many hits outside the expected time is held. */
#define RHYTHMIC_PARTS 8

/* Wakes the controller. Where a seccomp filter forbids system calls (`quiet`) nobody is woken: the
 * controller sees the doorbell at its next look. */
static void ring(struct area *area, const struct area_process *process)
{
	if (atomic_load_explicit(&process->quiet, memory_order_relaxed))
		atomic_fetch_add(&area->doorbell, 1);
	else
		area_ring(area);
}

/* CPU time of this thread, ns; 0 where a seccomp filter forbids system calls (`quiet`). */
static uint64_t cpu_time(const struct area_process *process)
{
	struct timespec now = {0};

	if (!atomic_load_explicit(&process->quiet, memory_order_relaxed))
		raw_syscall3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct credit take_credit(struct area *area, struct area_process *process, uint64_t identity,
				 uint64_t now, const struct wish *wish)
{
	bool is_new = credit_is_new(process, identity);
	/* A thread without an account has lived at least for the CPU time that it has used. */
	uint64_t lived = is_new ? cpu_time(process) : 0;

	return credit_take(area, process, identity, now, is_new, lived, wish);
}

/* Holds the thread until `until`, until the controller raises the slot's `turn`, or until the
 * controller is gone. Returns when the hold ended. */
static uint64_t hold_thread(struct area *area, struct area_process *process, struct area_slot *slot,
			    uint32_t turn, uint64_t until)
{
	const uint64_t begin = agent_now();
	uint64_t now;

	if (until > begin + agent_state.hold_most)
		until = begin + agent_state.hold_most;
	while ((now = agent_now()) < until) {
		struct timespec left = {0, until - now < HOLD_SLICE ? (long)(until - now)
								    : HOLD_SLICE};

		if (atomic_load(&slot->turn) != turn || area_is_closed(area))
			break;
		if (atomic_load_explicit(&process->quiet, memory_order_relaxed))
			__builtin_ia32_pause();
		else if (raw_futex((uint32_t *)&slot->turn, FUTEX_WAIT, turn, &left) == -ENOSYS)
			break;
	}
	now = agent_now();
	atomic_fetch_add_explicit(&process->held, now - begin, memory_order_relaxed);
	return now;
}

static void hold_and_leave(struct area *area, struct area_process *process, struct area_slot *slot,
			   uint32_t turn, struct area_hit *hit, uint64_t ticket, uint64_t entry,
			   const struct credit *credit)
{
	uint64_t end = hold_thread(area, process, slot, turn, entry + credit->hold);

	area_hit_leave(hit, ticket, end);
	credit_settle(process, credit, end - entry);
}

/* Waits in vain since a record was last free, by any thread. */
static _Atomic unsigned waits_in_vain;

/* All records are taken: the thread waits for the controller to free one. Every wait is bounded and
 * paid from the thread's credit, so that waits take no larger share of its time than holds may. */
static struct area_hit *wait_for_record(struct area *area, struct area_process *process,
					struct area_slot *slot, uint64_t *ticket)
{
	struct timespec pause = {0, RECORD_PAUSE};
	const uint64_t begin = agent_now();
	struct area_hit *hit = NULL;
	uint64_t until, patience;

	if (!slot->patience || atomic_load_explicit(&process->quiet, memory_order_relaxed) ||
	    atomic_load_explicit(&waits_in_vain, memory_order_relaxed) >= VAIN_MOST)
		return NULL;
	patience = slot->patience < WAIT_MOST ? slot->patience : WAIT_MOST;
	until = begin + take_credit(area, process, (uint64_t)raw_gettid(), begin,
				    &(struct wish){.hold = patience})
				.hold;
	while (!hit && agent_now() < until && !area_is_closed(area)) {
		ring(area, process);
		raw_futex((uint32_t *)&slot->turn, FUTEX_WAIT, atomic_load(&slot->turn), &pause);
		hit = area_hit_claim(area, agent_state.index, ticket);
	}
	if (!hit && until - begin >= VAIN_LEAST)
		atomic_fetch_add_explicit(&waits_in_vain, 1, memory_order_relaxed);
	return hit;
}

static struct area_hit *claim_record(struct area *area, struct area_process *process,
				     struct area_slot *slot, uint64_t *ticket)
{
	struct area_hit *hit = area_hit_claim(area, agent_state.index, ticket);

	if (!hit)
		return wait_for_record(area, process, slot, ticket);
	if (atomic_load_explicit(&waits_in_vain, memory_order_relaxed))
		atomic_store_explicit(&waits_in_vain, 0, memory_order_relaxed);
	return hit;
}

/* A hold of less than half the slot's length is not made: it would end before the controller has
 * armed anything in answer to it. */
static struct wish hold_of(const struct area_slot *slot)
{
	return (struct wish){.hold = slot->hold,
			     .least = slot->hold / 2,
			     .whole = slot->hold_whole,
			     .reserve = atomic_load_explicit(&slot->reserve, memory_order_relaxed)};
}

/* The hold is as long as the slot has been armed, within hold_most: the longer a thread was in
 * coming, the longer the next one is expected to take. */
static struct wish hold_wanted(const struct area_slot *slot, uint64_t entry)
{
	uint64_t waited = entry > slot->armed_at ? entry - slot->armed_at : 0;
	struct wish wish = hold_of(slot);

	if (waited > slot->hold_most)
		waited = slot->hold_most;
	if (waited > wish.hold)
		wish.hold = waited;
	return wish;
}

/* True between `meeting_from` and `meeting_until`, when the controller expects another thread at
 * the address: the hold then lasts until `meeting_until`. Acquire pairs with plan() of
 * hold/hold.c. */
static bool is_meeting_expected(const struct area_slot *slot, uint64_t entry, struct wish *wish)
{
	uint64_t until = atomic_load_explicit(&slot->meeting_until, memory_order_acquire);

	if (entry >= until ||
	    entry < atomic_load_explicit(&slot->meeting_from, memory_order_relaxed))
		return false;
	*wish = (struct wish){.hold = until - entry, .least = (until - entry) / 2};
	return true;
}

/* In a rhythmic slot the controller knows when other threads come; of hits at other times only one
 * in RHYTHMIC_PARTS is held. */
static bool is_between_meetings(const struct area_slot *slot, const struct area_hit *hit)
{
	return atomic_load_explicit(&slot->rhythmic, memory_order_relaxed) &&
	       hit->serial % RHYTHMIC_PARTS;
}

/*
 * Most memory is never shared, and each hold delays its thread: while only one thread has hit the
 * slot, it is held HOLDS_ALONE times. Only holds that the thread's credit paid for are counted
 * (take_hold()).
 */
static bool is_worth_holding(struct area_slot *slot, uint64_t identity)
{
	uint64_t owner = atomic_load_explicit(&slot->owner, memory_order_relaxed);

	if (!owner && atomic_compare_exchange_strong(&slot->owner, &owner, identity))
		owner = identity;
	if (owner != identity)
		atomic_store_explicit(&slot->shared, 1, memory_order_relaxed);
	if (slot->patience || atomic_load_explicit(&slot->shared, memory_order_relaxed))
		return true;
	return atomic_load_explicit(&slot->alone, memory_order_relaxed) < HOLDS_ALONE;
}

static bool wants_hold(struct area_slot *slot, const struct area_hit *hit, struct wish *wish)
{
	bool worth = is_worth_holding(slot, hit->identity);

	if (is_meeting_expected(slot, hit->entry_time, wish))
		return true;
	*wish = hold_wanted(slot, hit->entry_time);
	return worth && !is_between_meetings(slot, hit);
}

static struct credit take_hold(struct area *area, struct area_process *process,
			       struct area_slot *slot, const struct area_hit *hit)
{
	struct credit credit;
	struct wish wish;

	if (!wants_hold(slot, hit, &wish))
		return (struct credit){0};
	credit = take_credit(area, process, hit->identity, hit->entry_time, &wish);
	if (credit.hold)
		atomic_fetch_add_explicit(&slot->alone, 1, memory_order_relaxed);
	return credit;
}

/* Yields the CPU: the controller was woken to end the watch, and may need the very CPU of this
 * thread. */
static void give_way(const struct area_process *process)
{
	if (!atomic_load_explicit(&process->quiet, memory_order_relaxed))
		raw_syscall3(SYS_sched_yield, 0, 0, 0);
}

/*
 * True when the hit belongs to what its slot watches now and is within its limit. A thread that is
 * scheduled away between its access and the signal, in a system call say, brings the generation of
 * the moment of the signal, which may be a later one; but the address is still that of the access.
 */
static bool admit(struct area_process *process, struct area_slot *slot, uint32_t generation,
		  uint64_t address)
{
	uint32_t hits;

	atomic_fetch_add_explicit(&process->delivered, 1, memory_order_relaxed);
	/* A slot without an address watches another one in each thread. */
	if (atomic_load(&slot->generation) != generation ||
	    (slot->address && slot->address != address)) {
		atomic_fetch_add_explicit(&process->stale, 1, memory_order_relaxed);
		return false;
	}
	hits = atomic_fetch_add_explicit(&slot->hits, 1, memory_order_relaxed);
	if (hits + 1 == atomic_load_explicit(&slot->quota, memory_order_relaxed))
		ring(agent_state.area, process);
	if (hits < slot->hold_limit)
		return true;
	atomic_fetch_add_explicit(&process->over, 1, memory_order_relaxed);
	if (hits == slot->hold_limit)
		ring(agent_state.area, process);
	give_way(process);
	return false;
}

/* Filters need thread-local storage and unwinding. The injected handler has neither and sends every
 * hit. */
static bool has_filter(const struct area *area)
{
#ifdef AGENT_INJECTED
	(void)area;
	return false;
#else
	return area->filter.on;
#endif
}

static uint64_t dropped_by_now(const struct area_process *process)
{
	return atomic_load_explicit(&process->dropped, memory_order_relaxed);
}

/* `lost`: hits of the process dropped until `entry`, the time by which hits are ordered. */
static void name_hit(struct area_hit *hit, struct area_process *process, uint32_t slot,
		     uint32_t generation, uint64_t entry, uint64_t lost)
{
	hit->entry_time = entry;
	hit->process = agent_state.index;
	hit->slot = slot;
	hit->generation = generation;
	hit->serial = atomic_fetch_add_explicit(&process->serial, 1, memory_order_relaxed);
	hit->lost = lost;
}

/* Notes one hit and holds its thread. Returns how long the thread was held and waited for a record,
 * ns. */
static uint64_t handle_hit(struct area_process *process, const struct perf_siginfo *info,
			   const ucontext_t *context, uint64_t entry)
{
	struct area *area = agent_state.area;
	struct area_slot *slot = &process->slot[info->data >> 32 & 0xff];
	uint32_t generation = (uint32_t)info->data;
	uint64_t waited = 0, ticket, begun, lost = dropped_by_now(process);
	uint32_t turn = atomic_load(&slot->turn);
	struct agent_choice choice;
	struct credit credit = {0};
	struct area_hit *hit;

	if (area_is_closed(area) || !admit(process, slot, generation, info->address))
		return waited;
	if (has_filter(area) && !agent_choose(process, (uint32_t)(info->data >> 32 & 0xff),
					      info->flags & PERF_SIGINFO_LATE ? 0 : info->address,
					      context, entry, &choice))
		return waited;
	waited = agent_now();
	hit = claim_record(area, process, slot, &ticket);
	waited = agent_now() - waited;
	if (!hit && has_filter(area) && choice.place) {
		atomic_fetch_add_explicit(&choice.place->count, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&process->unsent, 1, memory_order_relaxed);
		return waited;
	}
	if (!hit) {
		atomic_fetch_add_explicit(&process->dropped, 1, memory_order_relaxed);
		return waited;
	}
	name_hit(hit, process, (uint32_t)(info->data >> 32 & 0xff), generation, entry, lost);
	note_hit(hit, info, context, slot,
		 atomic_load_explicit(&process->quiet, memory_order_relaxed),
		 has_filter(area) ? &choice : NULL);
	if (dropped_by_now(process) != lost)
		hit->flags |= AREA_HIT_LOSS;
	if (!(hit->flags & AREA_HIT_LATE) && slot->answered == AREA_ANSWER_LENT)
		credit = (struct credit){.hold = slot->hold, .parts = 1};
	else if (!(hit->flags & AREA_HIT_LATE) && slot->answered)
		credit = credit_owe(area, process, hit->identity, entry, slot->hold);
	else if (!(hit->flags & AREA_HIT_LATE) && slot->hold)
		credit = take_hold(area, process, slot, hit);
	if (!credit.hold)
		hit->flags |= AREA_HIT_UNHELD;
	area_hit_publish(hit, ticket);
	if (credit.hold || slot->patience || atomic_load(&slot->hits) >= ALONE_RING ||
	    atomic_load_explicit(&slot->rhythmic, memory_order_relaxed))
		ring(area, process);
	if (!credit.hold) {
		area_hit_leave(hit, ticket, agent_now());
		return waited;
	}
	begun = agent_now();
	hold_and_leave(area, process, slot, turn, hit, ticket, entry, &credit);
	return waited + agent_now() - begun;
}

/* Handles a hit and adds to the slot what the budget is charged. Of the handler's own time at most
 * INSIDE_MAX counts: beyond that the thread was scheduled away, which is not the hit's cost. */
static void handle_and_account(struct area_process *process, const struct perf_siginfo *info,
			       const ucontext_t *context)
{
	struct area_slot *slot = &process->slot[info->data >> 32 & 0xff];
	uint64_t begin = agent_now();
	uint64_t waited = handle_hit(process, info, context, begin);
	uint64_t took = agent_now() - begin - waited;

	atomic_fetch_add_explicit(&slot->waited, waited, memory_order_relaxed);
	atomic_fetch_add(&slot->inside, took < INSIDE_MAX ? took : INSIDE_MAX);
	sequence_note(process, slot, context);
}

/* Publishes the hit that `hit` describes, and holds its thread if its credit pays for that. */
static void publish(struct area_process *process, struct area_hit *hit, uint64_t ticket,
		    struct area_slot *slot, uint32_t turn)
{
	struct area *area = agent_state.area;
	uint64_t entry = hit->entry_time;
	struct wish wish = hold_of(slot);
	struct credit credit = {0};

	if (slot->hold && !(hit->flags & AREA_HIT_LATE))
		credit = take_credit(area, process, hit->identity, entry, &wish);
	if (!credit.hold)
		hit->flags |= AREA_HIT_UNHELD;
	area_hit_publish(hit, ticket);
	ring(area, process);
	if (credit.hold)
		hold_and_leave(area, process, slot, turn, hit, ticket, entry, &credit);
	else
		area_hit_leave(hit, ticket, agent_now());
}

void agent_note_access(struct area_process *process, uint32_t index, uint32_t generation,
		       const struct agent_access *access, const ucontext_t *context)
{
	struct area *area = agent_state.area;
	struct area_slot *slot = &process->slot[index];
	uint32_t turn = atomic_load(&slot->turn);
	struct perf_siginfo info = {.address = access->address};
	struct area_hit *hit;
	uint64_t ticket;

	if (area_is_closed(area) || !admit(process, slot, generation, slot->address))
		return;
	hit = claim_record(area, process, slot, &ticket);
	if (!hit) {
		atomic_fetch_add_explicit(&process->dropped, 1, memory_order_relaxed);
		return;
	}
	name_hit(hit, process, index, generation, agent_now(), dropped_by_now(process));
	note_hit(hit, &info, context, slot,
		 atomic_load_explicit(&process->quiet, memory_order_relaxed), NULL);
	hit->flags |= AREA_HIT_REGION;
	hit->access_pc = access->pc;
	hit->access = access->access;
	hit->access_length = access->length;
	publish(process, hit, ticket, slot, turn);
}

/* Handles a SIGTRAP that is the program's own. One that the kernel forced (a fault's) is never kept
 * for later: where the program has SIGTRAP blocked, it kills, as it would without us. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	bool passed = true;

	if (signal_is_forced(info) && mask_is_blocked())
		passed = signal_chain_blocked(number, info, context);
	else if (!mask_keep(info, context))
		passed = signal_chain(number, info, context);
	if (!passed && agent_state.area)
		atomic_fetch_add(&agent_state.area->traps_without_cause, 1);
}

/* Handles a SIGTRAP of a watchpoint of ours. Also one that is no longer wanted ends here: passed on
 * to the program it would kill it. */
static void take_hit(struct area_process *process, const struct perf_siginfo *perf,
		     const ucontext_t *context)
{
	uint64_t begin;

	if (!process && agent_state.area)
		atomic_fetch_add(&agent_state.area->hits_gone, 1);
	if (!process || (perf->data >> 40 & 0xff) != agent_state.index)
		return;
	begin = cpu_time(process);
	if (area_tag_limit(perf->data) < AREA_LIMITS) {
		atomic_fetch_add_explicit(&process->looks, 1, memory_order_relaxed);
		throttle_look(process, area_tag_limit(perf->data), perf->flags & PERF_SIGINFO_LATE,
			      context);
	} else {
		handle_and_account(process, perf, context);
	}
	atomic_fetch_add(&process->handling, cpu_time(process) - begin);
}

static bool may_call(const struct area_process *process)
{
	return !agent_state.quiet && !(process && atomic_load(&process->quiet));
}

/* Hits that the handler's own frames made are taken away twice: before interrupted_settle() asks
 * which signals are pending, and after the last call, which writes to the same stack. */
static void handle_ours(const struct perf_siginfo *perf, ucontext_t *context)
{
	const struct agent_regions *regions = agent_state.regions;
	struct area_process *process = agent_state.process;
	const void *frame = __builtin_frame_address(0);

	/* Before this thread counts as in a handler: a signal's handler may leave by longjmp(). */
	if (own_frame_again(agent_state.area, process, perf->data, context, frame,
			    !may_call(process))) {
		if (regions)
			regions->leave(context);
		return;
	}
	atomic_fetch_add(&agent_state.handlers, 1);
	take_hit(process, perf, context);
	if (may_call(process)) {
		own_frame_settle(process, perf->data, frame);
		interrupted_settle(context);
	}
	if (regions)
		regions->leave(context);
	if (may_call(process))
		own_frame_settle(process, perf->data, frame);
	atomic_fetch_sub(&agent_state.handlers, 1); /* no system call is made from here on */
}

void agent_take_trap(int number, siginfo_t *info, void *context)
{
	const struct agent_regions *regions = agent_state.regions;
	const struct perf_siginfo *perf = (const struct perf_siginfo *)info;

	if (regions && regions->begin(info, context))
		return;
	if (info->si_code == PERF_SIGINFO_CODE && area_tag_is_ours(perf->data)) {
		handle_ours(perf, context);
		return;
	}
	pass_on(number, info, context);
	if (regions)
		regions->leave(context);
}

int agent_handle_signals(void)
{
	return signal_own(SIGTRAP, agent_take_trap);
}
