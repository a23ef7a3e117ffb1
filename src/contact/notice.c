/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices: events that the controller must deal with before the thread goes on. They travel as hits
 * do, in a record of the area; the controller gives the record back when it has dealt with it.
 */
#include "contact/notice.h"

#include "agent/permitted.h"
#include "agent/region.h"
#include "agent/state.h"
#include "base/syscall.h"
#include "contact/announce.h"
#include "contact/patience.h"
#include "contact/record.h"

#include <stdatomic.h>
#include <string.h>

#define NOTICE_PAUSE 50000u /* ns between two looks for a free record */

/* What a notice says, apart from which thread gives it. */
struct agent_notice {
	uint32_t kind;
	uint64_t address, size, number;
	uint32_t access, length;
	uint64_t word, serial;
	const struct guard_record *record;
	const _Atomic uint64_t *entry;
	bool kept;
};

/* Claims a record; waits where none is free. The wait is by short sleeps, because freeing a record
 * wakes nobody and a PATIENCE_SLICE would be too long. */
static struct area_hit *claim(struct area *area, uint64_t *ticket, struct patience *patience)
{
	struct area_hit *hit = area_hit_claim(area, agent_state.index, ticket);

	while (!hit && patience_goes_on(patience)) {
		area_ring(area);
		raw_nanosleep(NOTICE_PAUSE);
		hit = area_hit_claim(area, agent_state.index, ticket);
	}
	return hit;
}

static void fill(struct area_hit *hit, uint32_t kind, const struct area_registers *registers)
{
	ssize_t length = raw_read_memory(hit->stack, registers->general[insn_arch.stack_pointer],
					 AREA_STACK);

	record_fill(hit, kind, registers);
	hit->stack_address = registers->general[insn_arch.stack_pointer];
	hit->stack_length = length > 0 ? (uint32_t)length : 0;
}

/* Copies the guarded block's record, since the process may be gone when the controller looks:
 * blocks that are found broken at the process's end are told many at a time. Another thread may
 * have given the entry to another block meanwhile. That block counts from BUSY on; if it has the
 * same address, it has another serial number by the time that it is LIVE. An entry that has only
 * changed its state is still the same block's. */
static void fill_block(struct guard_told *block, const struct agent_notice *what)
{
	uint64_t word;

	block->word = 0;
	if (!what->record)
		return;
	memcpy(&block->record, what->record, sizeof(block->record));
	atomic_thread_fence(memory_order_acquire);
	word = atomic_load_explicit(what->entry, memory_order_acquire);
	if (guard_address(word) == guard_address(what->word) && guard_state(word) != GUARD_BUSY &&
	    atomic_load_explicit(&what->record->serial, memory_order_relaxed) == what->serial)
		block->word = what->word;
}

/* Waits until the controller has taken the record. False: no answer came in time. */
static bool wait_for_answer(struct area_process *process, const struct area_hit *hit,
			    uint64_t ticket, struct patience *patience)
{
	uint32_t seen;

	do {
		seen = atomic_load(&process->answered);
		if (atomic_load(&hit->state) != (ticket | AREA_HIT_HELD))
			return true;
	} while (patience_wait(patience, &process->answered, seen));
	return false;
}

/* Gives one notice and waits for the answer. False: nobody was told, or nobody has answered. */
static bool tell(const struct agent_notice *what, const struct area_registers *registers)
{
	struct area_process *process = agent_state.process;
	struct area *area = agent_state.area;
	struct patience patience;
	struct area_hit *hit;
	uint64_t ticket;
	bool answered;

	/* A child that borrows its parent's memory (vfork()) has none of its events. */
	if (!process || area_is_closed(area) || !permitted(SYS_getpid) ||
	    process->pid != raw_getpid())
		return false;
	if (agent_is_late(process)) {
		/* Notices of threads and blocks are given by watched processes alone. One of a
		 * guarded block is given in any case: the process asks to be watched at once, which
		 * takes system calls that a seccomp filter (`quiet`) may forbid. */
		if (what->kind != AREA_HIT_GUARD)
			return false;
		if (!atomic_load(&process->quiet))
			agent_hurry(process);
	}
	patience = patience_begin(area->announce_bound);
	hit = atomic_load(&process->quiet) ? NULL : claim(area, &ticket, &patience);
	if (!hit) {
		atomic_fetch_add(&process->unnoticed, 1);
		return false;
	}
	fill(hit, what->kind, registers);
	hit->flags |= what->kept ? AREA_HIT_KEPT : 0;
	hit->address = what->address;
	hit->size = what->size;
	hit->number = what->number;
	hit->access = what->access;
	hit->access_length = what->length;
	fill_block(&hit->block, what);
	hit->serial = atomic_fetch_add_explicit(&process->serial, 1, memory_order_relaxed);
	area_hit_publish(hit, ticket);
	area_ring(area);
	answered = wait_for_answer(process, hit, ticket, &patience);
	if (!answered)
		atomic_fetch_add(&process->unnoticed, 1);
	area_hit_leave(hit, ticket, agent_now());
	if (agent_state.regions)
		agent_state.regions->follow();
	return answered;
}

void agent_notice(uint32_t kind, uint64_t address, uint64_t size,
		  const struct area_registers *registers)
{
	struct agent_notice what = {.kind = kind, .address = address, .size = size};

	tell(&what, registers);
}

bool agent_notice_guard(const struct agent_guard_notice *notice,
			const struct area_registers *registers)
{
	struct agent_notice what = {.kind = AREA_HIT_GUARD,
				    .address = notice->address,
				    .size = (uint64_t)notice->offset,
				    .number = notice->block,
				    .access = notice->event,
				    .length = notice->length,
				    .word = notice->word,
				    .serial = notice->serial,
				    .record = notice->record,
				    .entry = notice->entry,
				    .kept = notice->kept};

	return tell(&what, registers);
}
