/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler of a hit: note where the thread is, wake the controller, hold the thread, go on.
 *
 * It runs in the thread that made the access, right after it or before it (data
 * watchpoints, as insn/hooks.h says of the architecture; execution breakpoints). Between entry and
 * exit the thread has done nothing that another thread could be ordered by; that is what makes two
 * overlapping holds at one address a race.
 *
 * It never touches the watched memory itself: that would trip the watchpoint again. The kernel
 * copies it (process_vm_readv), which a breakpoint that excludes the kernel does not see.
 */
#include "handler/handler.h"

#include "agent/arch.h"
#include "agent/opmask.h"
#include "agent/region.h"
#include "agent/state.h"
#include "allowance/credit.h"
#include "allowance/throttle.h"
#include "base/perf_siginfo.h"
#include "base/syscall.h"
#include "handler/choose.h"
#include "handler/own_frame.h"
#include "mask/mask.h"
#include "signal/interrupted.h"
#include "signal/ownership.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>

#define WAIT_MOST 1000000000u
#define HOLD_SLICE 500000000  /* ns: the controller's death wakes nobody who is held */
#define VAIN_LEAST 100000000u /* ns; a shorter wait tells nothing */
#define VAIN_MOST 4	      /* waits in a row without a free record, after which nobody waits */
#define RECORD_PAUSE 50000u   /* ns between two looks for a free record */
#define ALONE_RING 6	   /* hits after which the controller is told of those that are not held */
#define HOLDS_ALONE 2	   /* of one thread, while no other has come by */
#define INSIDE_MAX 100000u /* ns of a handler's time that are its hit's */
#define RHYTHMIC_PARTS 8   /* of so many one is held, where it is known when others come */

/* Under a filter the controller is not woken: it looks by itself, a moment later. */
static void ring(struct area *area, const struct area_process *process)
{
	if (atomic_load_explicit(&process->quiet, memory_order_relaxed))
		atomic_fetch_add(&area->doorbell, 1);
	else
		area_ring(area);
}

/* Of this thread, ns; stands still where no call may be made. */
static uint64_t cpu_time(const struct area_process *process)
{
	struct timespec now = {0};

	if (!atomic_load_explicit(&process->quiet, memory_order_relaxed))
		raw_syscall3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void note_registers(struct area_registers *registers, const ucontext_t *context)
{
	agent_arch.registers(context, registers);
	registers->fs_base = agent_state.can_read_fs_base ? agent_arch.pointer_by_instruction() : 0;
}

static uint32_t read_stack(struct area_hit *hit, uint64_t stack_address)
{
	ssize_t count = raw_read_memory(hit->stack, stack_address, AREA_STACK);

	return count > 0 ? (uint32_t)count : 0;
}

/* The value watched and the top of the stack, in one call; what cannot be read stays unread. */
static void note_memory(struct area_hit *hit, uint64_t value_address, uint64_t stack_address)
{
	struct iovec local[2] = {{hit->value, area_value_length(value_address)},
				 {hit->stack, AREA_STACK}};
	/* The next page may be one that nobody is to touch. */
	const size_t length = area_value_length(value_address);
	struct iovec remote[2] = {{(void *)value_address, length},
				  {(void *)stack_address, AREA_STACK}};
	ssize_t count = raw_read_pieces(local, remote, 2);

	hit->value_until = agent_now();
	hit->value_address = value_address;
	hit->stack_address = stack_address;
	if (count >= (ssize_t)length) {
		hit->value_length = (uint32_t)length;
		hit->stack_length = (uint32_t)((size_t)count - length);
		return;
	}
	hit->value_length = 0;
	hit->stack_length = read_stack(hit, stack_address);
}

/* The value is what the filter has judged by. */
static void note_choice(struct area_hit *hit, const struct agent_choice *choice)
{
	hit->flags |= AREA_HIT_JUDGED | (choice->before_known ? AREA_HIT_BEFORE : 0);
	hit->before = choice->before;
	hit->number = choice->number;
	hit->value_address = choice->value_address;
	hit->value_length = choice->value_length;
	memcpy(hit->value, choice->value, AREA_VALUE);
}

static void note_nothing(struct area_hit *hit, uint64_t value_address, uint64_t stack_address)
{
	hit->value_address = value_address;
	hit->stack_address = stack_address;
	hit->value_length = 0;
	hit->stack_length = 0;
}

/* How long a thread that has no account has lived, at least; 0 where no call may be made. */
static uint64_t lived(const struct area_process *process)
{
	struct timespec used = {0};

	if (!atomic_load_explicit(&process->quiet, memory_order_relaxed))
		raw_syscall3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&used, 0);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static struct credit take_credit(struct area *area, struct area_process *process, uint64_t identity,
				 uint64_t now, const struct wish *wish)
{
	bool is_new = credit_is_new(process, identity);

	return credit_take(area, process, identity, now, is_new, is_new ? lived(process) : 0, wish);
}

/* Until the time is over, the controller ends the slot's turn, or it goes away. */
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
			   uint32_t turn, struct area_hit *hit, uint64_t ticket, uint64_t until,
			   const struct credit *credit)
{
	uint64_t end = hold_thread(area, process, slot, turn, until);

	area_hit_leave(hit, ticket, end);
	credit_settle(credit, (int64_t)(end - until));
}

/* Waits for a record that were for nothing, since one was free. Any thread. */
static _Atomic unsigned waits_in_vain;

/* All records are taken: give the controller time to free one. Every wait is bounded, and paid from
 * the thread's credit, so that waiting takes no larger part of its time than holds may. */
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

static bool returns_open(const ucontext_t *context)
{
	uint64_t mask; /* the kernel's: the first word of libc's */

	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	return !(mask & 1ull << (SIGTRAP - 1));
}

static void note_hit(struct area_hit *hit, const struct perf_siginfo *info,
		     const ucontext_t *context, struct area_slot *slot, bool quiet,
		     const struct agent_choice *choice)
{
	/* The access's own address where each thread has its own, and within a region. */
	bool whole = slot->address && slot->length <= 8;
	uint64_t value = (whole ? slot->address : info->address) & ~7ull;

	note_registers(&hit->registers, context);
	hit->address = info->address;
	hit->tid = quiet ? 0 : raw_gettid();
	hit->identity = hit->tid ? (uint64_t)hit->tid : hit->registers.fs_base;
	hit->flags = info->flags & PERF_SIGINFO_LATE ? AREA_HIT_LATE : 0;
	hit->flags |= returns_open(context) ? AREA_HIT_OPEN : 0;
	if (opmask_note(context, agent_state.opmask_at, hit->opmask))
		hit->flags |= AREA_HIT_OPMASKS;
	hit->thread[0] = '\0';
	hit->number = hit->value_until = 0;
	if (!quiet && slot->patience)
		raw_syscall6(SYS_prctl, PR_GET_NAME, (long)hit->thread, 0, 0, 0, 0);
	if (quiet)
		note_nothing(hit, value, hit->registers.general[insn_arch.stack_pointer]);
	else if (choice)
		hit->stack_length =
			read_stack(hit, hit->registers.general[insn_arch.stack_pointer]);
	else
		note_memory(hit, value, hit->registers.general[insn_arch.stack_pointer]);
	hit->stack_address = hit->registers.general[insn_arch.stack_pointer];
	if (choice)
		note_choice(hit, choice);
}

/* Less than half of a hold would end before the controller has done anything about it. */
static struct wish hold_of(const struct area_slot *slot)
{
	return (struct wish){.hold = slot->hold,
			     .least = slot->hold / 2,
			     .reserve = atomic_load_explicit(&slot->reserve, memory_order_relaxed)};
}

/* The seldomer a place is come by, the longer it takes until another thread comes too. */
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

/* Another thread is expected at its access before `wish->hold` is over. Acquire pairs with plan()
 * of hold/hold.c. */
static bool meets(const struct area_slot *slot, uint64_t entry, struct wish *wish)
{
	uint64_t until = atomic_load_explicit(&slot->meeting_until, memory_order_acquire);

	if (entry >= until ||
	    entry < atomic_load_explicit(&slot->meeting_from, memory_order_relaxed))
		return false;
	*wish = (struct wish){.hold = until - entry, .least = (until - entry) / 2};
	return true;
}

/* Where it is known when others come, few are held that come at another time. */
static bool passes(const struct area_slot *slot, const struct area_hit *hit)
{
	return atomic_load_explicit(&slot->rhythmic, memory_order_relaxed) &&
	       hit->serial % RHYTHMIC_PARTS;
}

/*
 * A place that one thread alone comes by is held at a few times only: each hold delays that thread,
 * and most memory is never shared. A hold that nothing was saved up for is none, and not counted.
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

static bool is_held(struct area_slot *slot, const struct area_hit *hit, struct wish *wish)
{
	bool worth = is_worth_holding(slot, hit->identity);

	if (meets(slot, hit->entry_time, wish))
		return true;
	*wish = hold_wanted(slot, hit->entry_time);
	return worth && !passes(slot, hit);
}

static struct credit take_hold(struct area *area, struct area_process *process,
			       struct area_slot *slot, const struct area_hit *hit)
{
	struct credit credit;
	struct wish wish;

	if (!is_held(slot, hit, &wish))
		return (struct credit){0};
	credit = take_credit(area, process, hit->identity, hit->entry_time, &wish);
	if (credit.hold)
		atomic_fetch_add_explicit(&slot->alone, 1, memory_order_relaxed);
	return credit;
}

/* The controller, which has been rung for, may want this thread's CPU to end the watch. */
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
	/* Without an address the slot watches another one in each thread. */
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

/* Filters need a thread's own storage, and unwinding. Where the handler has neither all is sent. */
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

/* `lost` is as of `entry`, by which hits are ordered. */
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

/* Returns how long the thread was made to wait, ns. */
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
	hold_and_leave(area, process, slot, turn, hit, ticket, entry + credit.hold, &credit);
	return waited + agent_now() - begun;
}

/* What the budget is charged: a thread may be scheduled away in its handler, not for its hit. */
static void handle_and_account(struct area_process *process, const struct perf_siginfo *info,
			       const ucontext_t *context)
{
	struct area_slot *slot = &process->slot[info->data >> 32 & 0xff];
	uint64_t begin = agent_now();
	uint64_t waited = handle_hit(process, info, context, begin);
	uint64_t took = agent_now() - begin - waited;

	atomic_fetch_add_explicit(&slot->waited, waited, memory_order_relaxed);
	atomic_fetch_add(&slot->inside, took < INSIDE_MAX ? took : INSIDE_MAX);
}

/* A hold, or none, of a hit that is in `hit`. */
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
		hold_and_leave(area, process, slot, turn, hit, ticket, entry + credit.hold,
			       &credit);
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

/* Not ours. A forced one is never kept for later: where the program has it blocked, it kills. */
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

/* One of ours is never passed on, also when it is no longer wanted: it would kill. */
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

/* Its hits that the handler's own frames made are taken away before anything asks what waits, and
 * once more behind the last call, which writes the same words. */
static void handle_ours(const struct perf_siginfo *perf, ucontext_t *context)
{
	const struct agent_regions *regions = agent_state.regions;
	struct area_process *process = agent_state.process;
	const void *frame = __builtin_frame_address(0);

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
	atomic_fetch_sub(&agent_state.handlers, 1); /* no call is made from here on */
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
