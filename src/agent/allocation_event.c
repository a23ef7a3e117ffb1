/* SPDX-License-Identifier: Apache-2.0 */
/* Who allocates or frees a block, where and when: with the callers of libc's function. */
#include "agent/allocation.h"

#include "agent/state.h"
#include "base/syscall.h"
#include "unwind/unwind.h"

#include <string.h>
#include <sys/prctl.h>

/* Of this library's code, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_own_code(uint64_t pc)
{
	return pc >= (uintptr_t)__ehdr_start && pc < (uintptr_t)etext;
}

static void note_stack(struct allocation_event *event, const struct allocation_caller *caller)
{
	struct unwind_registers registers = {.known = 1u << UNWIND_RBP | 1u << UNWIND_RSP |
						      1u << UNWIND_PC};
	uint32_t count, own = 0;

	registers.value[UNWIND_RBP] = caller->frame_pointer;
	registers.value[UNWIND_PC] = caller->pc;
	registers.value[UNWIND_RSP] = caller->stack_pointer;
	count = (uint32_t)unwind_callers(&registers, event->frame, ALLOCATION_FRAMES, NULL);
	while (own < count && is_own_code(event->frame[own]))
		own++;
	memmove(event->frame, event->frame + own, (count - own) * sizeof(event->frame[0]));
	event->frames = count - own;
}

void allocation_note_event(struct allocation_event *event, const struct allocation_caller *caller,
			   uint64_t now)
{
	event->time = now;
	event->tid = raw_gettid();
	raw_syscall6(SYS_prctl, PR_GET_NAME, (long)event->thread, 0, 0, 0, 0);
	note_stack(event, caller);
}
