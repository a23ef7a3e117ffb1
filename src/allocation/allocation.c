/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembering where blocks of the heap come from. A thread looks at the block that brings it over a
 * amount of allocated memory, drawn anew each time, evenly between none and twice a mean. The mean
 * is the process's: it doubles when a block comes up before the time that the last one took has
 * been earned, and halves when there is time to spare. So a program that seldom allocates has
 * nearly all its blocks remembered, and one that allocates all the time pays no more for it.
 */
#include "allocation/allocation.h"

#include "agent/state.h"
#include "base/random.h"
#include "base/syscall.h"
#include "base/uncounted.h"
#include "contact/notice.h"

#include <errno.h>

#define MEAN_LEAST 16u /* as allocation_is_due() counts: hardly any is left out */
#define MEAN_MOST (64u << 20)
#define CREDIT 1000000u /* ns of remembering that a process begins with, and may save up */
#define LARGE (64u << 10)
#define TOOK_MOST 100000u	/* ns; a thread may be scheduled away, not for its block */
#define WITHOUT_WATCH (1 << 20) /* bytes until a process that is not watched looks again */

UNCOUNTED struct allocation_table allocation_table;
UNCOUNT(allocation_table);

__thread int64_t allocation_left __attribute__((tls_model("initial-exec")));

static _Atomic uint64_t mean = MEAN_LEAST;
static _Atomic uint64_t paid_until; /* CLOCK_MONOTONIC ns; 0: nothing was remembered yet */

/* ------------------------------------------------------------------------------------------- */
/* Which */

static void draw(void)
{
	static __thread struct random random __attribute__((tls_model("initial-exec")));

	if (!random.state)
		random.state = agent_now() ^ (uintptr_t)&random;
	allocation_left = (int64_t)(random_next(&random) %
				    (2 * atomic_load_explicit(&mean, memory_order_relaxed)));
}

/* The time that pays for `took` ns of remembering. */
static uint64_t earns(const struct area *area, uint64_t took)
{
	return area->allocations.parts ? took * 10000 / area->allocations.parts : 0;
}

/*
 * A large block is seldom, costs its page faults anyway, and much lies in it (a pool, a table): it
 * may be remembered on credit. Two threads that race here look once more or once less.
 */
static bool is_earned(const struct area *area, uint64_t now, size_t size)
{
	uint64_t credit = earns(area, CREDIT);
	uint64_t paid = atomic_load_explicit(&paid_until, memory_order_relaxed);
	uint64_t bytes = atomic_load_explicit(&mean, memory_order_relaxed);

	if (now < paid && size >= LARGE && paid - now < credit)
		return true;
	if (now < paid) {
		if (bytes < MEAN_MOST)
			atomic_store_explicit(&mean, bytes * 2, memory_order_relaxed);
		return false;
	}
	if (now - paid <= credit)
		return true;
	if (bytes > MEAN_LEAST)
		atomic_store_explicit(&mean, bytes / 2, memory_order_relaxed);
	atomic_store_explicit(&paid_until, now - credit, memory_order_relaxed);
	return true;
}

static void pay(const struct area *area, struct area_process *process, uint64_t begun)
{
	uint64_t took = agent_now() - begun;

	if (took > TOOK_MOST)
		took = TOOK_MOST;
	atomic_fetch_add_explicit(&paid_until, earns(area, took), memory_order_relaxed);
	atomic_fetch_add_explicit(&process->handling, took, memory_order_relaxed);
}

/* ------------------------------------------------------------------------------------------- */
/* What */

bool allocation_is_kept(const struct area_process *process, uint64_t block)
{
	uint32_t blocks;

	if (!process || !block)
		return false;
	blocks = atomic_load_explicit(&process->heap.blocks, memory_order_acquire);
	for (uint32_t i = 0; i < blocks && i < AREA_BLOCKS; i++)
		if (atomic_load_explicit(&process->heap.block[i], memory_order_relaxed) == block)
			return true;
	return false;
}

/* It is about to be the program's no more. The controller sees that at the next hit there, even if
 * it is told nothing. */
static void let_go(struct area_process *process, uint64_t block)
{
	uint32_t blocks = atomic_load_explicit(&process->heap.blocks, memory_order_acquire);

	for (uint32_t i = 0; i < blocks && i < AREA_BLOCKS; i++) {
		uint64_t kept = block;

		atomic_compare_exchange_strong_explicit(&process->heap.block[i], &kept, 0,
							memory_order_acq_rel, memory_order_relaxed);
	}
}

/* The record is this thread's if it is nobody's and still as it was at `sequence`. */
static bool begin(struct allocation_record *record, uint32_t sequence)
{
	return !(sequence & 1) &&
	       atomic_compare_exchange_strong_explicit(&record->sequence, &sequence, sequence + 1,
						       memory_order_acq_rel, memory_order_relaxed);
}

static void end(struct allocation_record *record, uint32_t sequence)
{
	atomic_store_explicit(&record->sequence, sequence + 2, memory_order_release);
}

/* The record is this thread's, and not that of a kept block: by that one free() knows the block. */
static bool take_place(struct area_process *process, uint32_t place, uint32_t sequence)
{
	struct allocation_record *record = &allocation_table.record[place];
	uint64_t before;

	if (!begin(record, sequence))
		return false;
	/* Either this thread sees that it is kept, or tell_birth() that its record is gone. */
	atomic_thread_fence(memory_order_seq_cst);
	before = atomic_load_explicit(&allocation_table.entry[place].block, memory_order_relaxed);
	if (allocation_is_kept(process, before)) {
		end(record, sequence);
		return false;
	}
	before = atomic_exchange_explicit(&allocation_table.entry[place].block, 0,
					  memory_order_relaxed);
	if (before && !(before & ALLOCATION_FREED))
		atomic_fetch_add_explicit(&process->allocations_replaced, 1, memory_order_relaxed);
	return true;
}

/* The record's sequence from now on; 0: the block is not remembered. */
static uint32_t remember(struct area_process *process, uint64_t block, uint64_t size,
			 const struct allocation_caller *caller, uint64_t now)
{
	uint32_t place = allocation_place(block);
	struct allocation_entry *entry = &allocation_table.entry[place];
	struct allocation_record *record = &allocation_table.record[place];
	uint32_t sequence = atomic_load_explicit(&record->sequence, memory_order_relaxed);

	if (!take_place(process, place, sequence)) {
		atomic_fetch_add_explicit(&process->allocations_passed, 1, memory_order_relaxed);
		return 0;
	}
	atomic_store_explicit(&entry->size, size, memory_order_relaxed);
	allocation_note_event(&record->allocated, caller, now);
	record->freed.time = 0;
	atomic_store_explicit(&entry->block, block, memory_order_release);
	end(record, sequence);
	agent_state.allocations = (uintptr_t)&allocation_table;
	atomic_store_explicit(&process->allocations, agent_state.allocations, memory_order_relaxed);
	atomic_fetch_add_explicit(&process->allocations_noted, 1, memory_order_relaxed);
	return sequence + 2;
}

/* ------------------------------------------------------------------------------------------- */

static bool is_quiet(const struct area_process *process)
{
	return atomic_load_explicit(&process->quiet, memory_order_relaxed);
}

static void tell(uint32_t kind, void *block, size_t size, const struct allocation_caller *caller)
{
	struct area_registers registers = {0};

	registers.pc = caller->pc - 1; /* within the call */
	registers.general[insn_arch.stack_pointer] = caller->stack_pointer;
	registers.general[insn_arch.frame_pointer] = caller->frame_pointer;
	agent_notice(kind, (uintptr_t)block, size, &registers);
}

/* Where another block has taken its record before it was kept, free() would not know it. */
static void tell_birth(struct area_process *process, void *block, size_t size, uint32_t sequence,
		       const struct allocation_caller *caller)
{
	const struct allocation_record *record =
		&allocation_table.record[allocation_place((uintptr_t)block)];

	tell(AREA_HIT_BLOCK, block, size, caller);
	atomic_thread_fence(memory_order_seq_cst);
	if (!sequence || atomic_load_explicit(&record->sequence, memory_order_relaxed) != sequence)
		let_go(process, (uintptr_t)block);
}

/* While the process is not watched, and by nobody any more, none of its blocks are anybody's
 * business. */
static bool is_idle(const struct area *area, const struct area_process *process)
{
	return !process || area_is_closed(area) || is_quiet(process) || agent_is_late(process);
}

static void consider(struct area *area, void *block, size_t size, bool fresh,
		     const struct allocation_caller *caller)
{
	struct area_process *process = agent_state.process;
	uint32_t sequence;
	uint64_t now;

	if (is_idle(area, process) || (uintptr_t)block % ALLOCATION_ALIGNMENT) {
		allocation_left = WITHOUT_WATCH;
		return;
	}
	now = agent_now();
	if (area->allocations.all) {
		allocation_left = 0;
	} else {
		bool earned = is_earned(area, now, size);

		draw();
		if (!earned) {
			atomic_fetch_add_explicit(&process->allocations_passed, 1,
						  memory_order_relaxed);
			return;
		}
	}
	sequence = remember(process, (uintptr_t)block, size, caller, now);
	if (fresh && area->allocations.births)
		tell_birth(process, block, size, sequence, caller);
	pay(area, process, now);
}

void allocation_consider(void *block, size_t size, bool fresh, struct allocation_caller caller)
{
	struct area *area = agent_state.area;
	int saved_errno = errno;

	allocation_left = 0;
	if (!area || !area->allocations.on || !block)
		return;
	consider(area, block, size, fresh, &caller);
	errno = saved_errno;
}

static void tell_release(struct area_process *process, void *block,
			 const struct allocation_caller *caller)
{
	let_go(process, (uintptr_t)block);
	if (agent_state.area->allocations.births && !is_quiet(process))
		tell(AREA_HIT_FREED, block, 0, caller);
}

void allocation_release(void *block, struct allocation_caller caller)
{
	uint32_t place = allocation_place((uintptr_t)block);
	struct allocation_entry *entry = &allocation_table.entry[place];
	struct allocation_record *record = &allocation_table.record[place];
	uint32_t sequence = atomic_load_explicit(&record->sequence, memory_order_acquire);
	struct area_process *process = agent_state.process;
	uint64_t address = (uintptr_t)block, now;
	bool begun;

	/* Marked before all else: no later block of this address is taken for it. */
	if (!atomic_compare_exchange_strong_explicit(&entry->block, &address,
						     address | ALLOCATION_FREED,
						     memory_order_acq_rel, memory_order_relaxed))
		return;
	begun = process && !is_quiet(process) && begin(record, sequence);
	now = agent_now();
	if (process)
		tell_release(process, block, &caller);
	if (!begun) {
		allocation_forget_release(block);
		return;
	}
	allocation_note_event(&record->freed, &caller, now);
	end(record, sequence);
	pay(agent_state.area, process, now);
}

void allocation_forget_release(const void *block)
{
	struct allocation_entry *entry =
		&allocation_table.entry[allocation_place((uintptr_t)block)];
	uint64_t freed = (uintptr_t)block | ALLOCATION_FREED;

	atomic_compare_exchange_strong_explicit(&entry->block, &freed, 0, memory_order_relaxed,
						memory_order_relaxed);
}
