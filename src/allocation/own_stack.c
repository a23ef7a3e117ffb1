/* SPDX-License-Identifier: Apache-2.0 */
#include "allocation/own_stack.h"

#include "agent/state.h"
#include "base/syscall.h"

#include <stdbool.h>
#include <sys/uio.h>

#define PAGE 4096u
#define PAGES_MOST 256u /* looked at in one step down the stack */
#define PARTS 16u	/* pages that one call looks at: what it needs stands on the stack */

/* Highest address of the first thread's stack, by the dynamic linker. */
extern void *__libc_stack_end;

/* What has been looked at. The end is where the thread's first function began. */
static __thread struct {
	uint64_t low, end;
	uint64_t missed; /* a page from which the end is not reached */
} stack __attribute__((tls_model("initial-exec")));

/* A thread's stack ends where its thread-local storage begins, but that of the first one. */
static uint64_t end_of_stack(uint64_t stack_pointer)
{
	uint64_t storage = (uintptr_t)__builtin_thread_pointer();

	return stack_pointer < storage ? storage : (uintptr_t)__libc_stack_end;
}

/* Are all pages of [from, to) mapped, and may they be read? Stacks of other threads, and those
 * that a program makes itself, have pages between them that may not. */
static bool is_readable(uint64_t from, uint64_t to)
{
	struct iovec there[PARTS], here;
	uint8_t bytes[PARTS];
	unsigned count;

	for (; from < to; from += count * PAGE) {
		for (count = 0; count < PARTS && from + count * PAGE < to; count++)
			there[count] = (struct iovec){(void *)(from + count * PAGE), 1};
		/* cppcheck-suppress legacyUninitvar; it is written to */
		here = (struct iovec){bytes, count};
		if (raw_syscall6(SYS_process_vm_readv, raw_gettid(), (long)&here, 1, (long)there,
				 count, 0) != count)
			return false;
	}
	return true;
}

static bool reach(uint64_t page)
{
	uint64_t known = stack.low ? stack.low : stack.end;

	if (page == stack.missed || agent_state.quiet)
		return false;
	if (known - page > PAGES_MOST * PAGE || !is_readable(page, known)) {
		stack.missed = page;
		return false;
	}
	stack.low = page;
	return true;
}

uint64_t own_stack_until(uint64_t stack_pointer)
{
	uint64_t page = stack_pointer & ~(uint64_t)(PAGE - 1);

	if (!stack.end)
		stack.end = end_of_stack(stack_pointer);
	if (stack_pointer < stack.end && ((stack.low && page >= stack.low) || reach(page)))
		return stack.end;
	return page + PAGE;
}
