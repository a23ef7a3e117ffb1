/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/memory.h"

#include <errno.h>
#include <string.h>

#include "base/syscall.h"

#define PAGE 4096u
/* A frame's slots are read in no fixed order: begin somewhat below the first one asked for. */
#define BELOW 128u

/* rt_sigprocmask() copies the set in before it looks at `how`: -EFAULT or, readable, -EINVAL. */
static bool is_readable(uintptr_t address)
{
	enum { NO_SUCH_OPERATION = 0x7fffffff };

	return raw_sigprocmask(NO_SUCH_OPERATION, (const uint64_t *)address, NULL) == -EINVAL;
}

/*
 * Where a seccomp filter denies process_vm_readv(). Accepted loss: the memory could be unmapped
 * by another thread between the probe and the copy.
 */
static ssize_t copy_probed(uint8_t *to, uintptr_t from, size_t length)
{
	uintptr_t last = from + length - 1;

	if (length < sizeof(uint64_t) || !is_readable(from) ||
	    !is_readable(last - sizeof(uint64_t) + 1))
		return -EFAULT;
	memcpy(to, (const void *)from, length);
	return (ssize_t)length;
}

static ssize_t fill(struct memory *memory, uintptr_t from, size_t length)
{
	ssize_t got;

	memory->first = from;
	got = raw_read_memory(memory->window, from, length);
	if (got == -EPERM || got == -ENOSYS)
		got = copy_probed(memory->window, from, length);
	memory->length = got > 0 ? (uint32_t)got : 0;
	return got;
}

static bool holds(const struct memory *memory, uintptr_t address, size_t length)
{
	return address >= memory->first && length <= memory->length &&
	       address - memory->first <= memory->length - length;
}

int memory_read(struct memory *memory, uintptr_t address, void *to, size_t length)
{
	uintptr_t below = address % PAGE < BELOW ? address % PAGE : BELOW;

	if (length == 0 || length > 64 || address + MEMORY_WINDOW < address)
		return -EFAULT;
	/* In one instruction of our own. */
	if (length == 8 && address >= memory->plain_from &&
	    address + length <= memory->plain_until) {
		memcpy(to, (const void *)address, 8);
		return 0;
	}
	memory_leave_trail(memory);
	if (!holds(memory, address, length)) {
		fill(memory, address - below, MEMORY_WINDOW);
		/* A denied or unmapped page further on must not hide this one. */
		if (!holds(memory, address, length))
			fill(memory, address, length < 8 ? 8 : length);
		if (!holds(memory, address, length))
			return -EFAULT;
	}
	memcpy(to, memory->window + (address - memory->first), length);
	return 0;
}
