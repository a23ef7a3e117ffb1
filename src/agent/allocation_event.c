/* SPDX-License-Identifier: Apache-2.0 */
/* Who allocates or frees a block, where and when: with the callers of libc's function. */
#include "agent/allocation.h"

#include "agent/state.h"
#include "agent/watched.h"
#include "base/syscall.h"
#include "unwind/unwind.h"

#include <string.h>
#include <sys/prctl.h>

#define PAGE 4096u
#define NAME_AGE 1000000u /* ns */

/* Of this library's code, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_own_code(uint64_t pc)
{
	return pc >= (uintptr_t)__ehdr_start && pc < (uintptr_t)etext;
}

/* The stack that is in use is mapped up to the end of the page. 0: it is not to be touched. */
static uint64_t plain_until(uint64_t stack_pointer)
{
	uint64_t end = (stack_pointer | (PAGE - 1)) + 1;

	return agent_is_watched(stack_pointer, end) ? 0 : end;
}

static void note_stack(struct allocation_event *event, const struct allocation_caller *caller)
{
	struct unwind_registers registers = {.known = 1u << UNWIND_RBP | 1u << UNWIND_RSP |
						      1u << UNWIND_PC};
	uint32_t count, own = 0;

	registers.value[UNWIND_RBP] = caller->frame_pointer;
	registers.value[UNWIND_PC] = caller->pc;
	registers.value[UNWIND_RSP] = caller->stack_pointer;
	count = (uint32_t)unwind_callers(&registers, plain_until(caller->stack_pointer),
					 event->frame, ALLOCATION_FRAMES, NULL);
	while (own < count && is_own_code(event->frame[own]))
		own++;
	memmove(event->frame, event->frame + own, (count - own) * sizeof(event->frame[0]));
	event->frames = count - own;
}

/*
 * The thread's name, which is asked for once a millisecond: a block that is remembered in the one
 * after a thread has changed its own may have the one before. A child has the name that it had when
 * it was forked.
 */
static void note_name(struct allocation_event *event)
{
	static __thread struct {
		uint64_t until; /* CLOCK_MONOTONIC ns */
		pid_t tid;
		char name[ALLOCATION_NAME];
	} known __attribute__((tls_model("initial-exec")));

	if (known.tid != event->tid || event->time > known.until) {
		known.tid = event->tid;
		known.until = event->time + NAME_AGE;
		raw_syscall6(SYS_prctl, PR_GET_NAME, (long)known.name, 0, 0, 0, 0);
	}
	memcpy(event->thread, known.name, sizeof(known.name));
}

void allocation_note_event(struct allocation_event *event, const struct allocation_caller *caller,
			   uint64_t now)
{
	event->time = now;
	event->tid = raw_gettid();
	note_name(event);
	note_stack(event, caller);
}
