/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/memory.h"

#include <errno.h>
#include <sys/uio.h>

static int read_process(void *context, uint64_t address, void *to, size_t length)
{
	struct iovec local = {to, length};
	struct iovec remote = {(void *)(uintptr_t)address, length};
	ssize_t got = process_vm_readv((pid_t)(intptr_t)context, &local, 1, &remote, 1, 0);

	if (got < 0)
		return -errno;
	return (size_t)got == length ? 0 : -EFAULT;
}

struct symbol_memory symbol_memory_of_process(pid_t pid)
{
	return (struct symbol_memory){read_process, (void *)(intptr_t)pid};
}

int symbol_memory_read(const struct symbol_memory *memory, uint64_t address, void *to,
		       size_t length)
{
	if (!memory || !memory->read)
		return -ENODATA;
	return memory->read(memory->context, address, to, length);
}
