/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/guard.h"

#include "unwind/unwind.h"

#include <errno.h>

bool tell_event(const struct agent_guard_notice *notice, struct allocation_caller caller)
{
	struct agent_guard_notice whole = *notice;
	struct area_registers registers = {0};
	uint32_t place = guard_find(notice->block);
	int saved_errno = errno;
	bool told;

	registers.pc = caller.pc - 1; /* within the call */
	/* By these it is foretold what the thread does with the block. */
	whole.kept = notice->event == GUARD_BORN &&
		     unwind_kept(caller.stack_pointer, registers.general);
	registers.general[insn_arch.stack_pointer] = caller.stack_pointer;
	registers.general[insn_arch.frame_pointer] = caller.frame_pointer;
	if (place != GUARD_NOWHERE) {
		whole.word = atomic_load_explicit(&guard_table.entry[place], memory_order_acquire);
		whole.record = &guard_table.record[place];
		whole.serial = atomic_load_explicit(&whole.record->serial, memory_order_relaxed);
		whole.entry = &guard_table.entry[place];
	}
	told = agent_notice_guard(&whole, &registers);
	errno = saved_errno;
	return told;
}

bool tell_damage(uint32_t place, enum guard_event event, struct block_damage damage,
		 struct allocation_caller caller)
{
	uint64_t block = guard_address(
		atomic_load_explicit(&guard_table.entry[place], memory_order_relaxed));
	struct agent_guard_notice notice = {.event = event,
					    .address = block,
					    .block = block,
					    .offset = damage.offset,
					    .length = damage.length};

	return damage.length && tell_event(&notice, caller);
}

bool tell_refused(enum guard_event event, const void *address, uint32_t place,
		  struct allocation_caller caller)
{
	struct agent_guard_notice notice = {.event = event, .address = (uintptr_t)address};

	if (place != GUARD_NOWHERE)
		notice.block = guard_address(
			atomic_load_explicit(&guard_table.entry[place], memory_order_relaxed));
	notice.offset = (int64_t)(notice.address - notice.block);
	return tell_event(&notice, caller);
}
