/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/hit.h"

#include "base/counters.h"
#include "base/syscall.h"
#include "signal/arch.h"
#include "unwind/unwind.h"

#include <errno.h>

tl_event *tl_hit_event(const tl_hit *hit)
{
	return hit->event;
}

uintptr_t tl_hit_pc(const tl_hit *hit)
{
	return hit->pc;
}

uintptr_t tl_hit_next_pc(const tl_hit *hit)
{
	return signal_arch.pc(hit->context);
}

const void *tl_hit_addr(const tl_hit *hit)
{
	return (const void *)hit->addr;
}

size_t tl_hit_size(const tl_hit *hit)
{
	return hit->size;
}

unsigned tl_hit_access(const tl_hit *hit)
{
	return hit->access;
}

pid_t tl_hit_tid(const tl_hit *hit)
{
	if (!hit->tid)
		((tl_hit *)hit)->tid = raw_gettid();
	return hit->tid;
}

ucontext_t *tl_hit_context(tl_hit *hit)
{
	return hit->context;
}

int tl_hit_resume_at(tl_hit *hit, uintptr_t pc)
{
	signal_arch.go_on_at(hit->context, pc);
	return 0;
}

int tl_hit_skip(tl_hit *hit)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;
	ssize_t got;

	if (!(hit->access & TL_EXEC))
		return 0;
	if (hit->access & TL_LATE)
		return -ENOEXEC;
	got = raw_read_memory(bytes, hit->pc, sizeof(bytes));
	/* At the end of a mapping fewer bytes can be had: take the page's rest. */
	if (got < 0)
		got = raw_read_memory(bytes, hit->pc, 4096 - hit->pc % 4096);
	if (got <= 0 || insn_decode(bytes, (size_t)got, hit->pc, &insn))
		return -ENOEXEC;
	return tl_hit_resume_at(hit, hit->pc + insn.length);
}

/*
 * Where the trap comes after the access and the instruction was a call or a jump, the thread is
 * already in another function: its own frame is then the caller that the unwinder finds, or gone.
 */
static size_t frames_to_drop(const tl_hit *hit)
{
	if (!insn_arch.traps_after || !hit->decoded || hit->access & TL_LATE)
		return 1;
	switch (hit->flow) {
	case INSN_FLOW_CALL:
	case INSN_FLOW_CALL_INDIRECT:
		return 2;
	case INSN_FLOW_RETURN:
		return 0;
	default:
		return 1;
	}
}

int tl_hit_backtrace(tl_hit *hit, uintptr_t *pcs, size_t max)
{
	size_t drop = frames_to_drop(hit);
	int complete = 1, count;

	if (!max)
		return 0;
	if (drop == 0) {
		pcs[0] = hit->pc;
		count = 1 + unwind_backtrace(hit->context, pcs + 1, max - 1, &complete);
	} else {
		count = unwind_backtrace(hit->context, pcs, max, &complete);
		if (drop == 2 && count > 1) {
			for (int i = 1; i + 1 < count; i++)
				pcs[i] = pcs[i + 1];
			count--;
		}
		pcs[0] = hit->pc;
	}
	if (!complete)
		counter_increment(COUNTER_UNWIND_STOPPED);
	return count;
}
