/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

int memory_read(pid_t pid, uint64_t address, void *to, size_t length)
{
	struct iovec local = {to, length}, remote = {(void *)address, length};
	ssize_t count = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (count < 0)
		return -errno;
	return (size_t)count == length ? 0 : -EFAULT;
}

int memory_write(pid_t pid, uint64_t address, const void *from, size_t length)
{
	struct iovec local = {(void *)from, length}, remote = {(void *)address, length};
	ssize_t count = process_vm_writev(pid, &local, 1, &remote, 1, 0);

	if (count < 0)
		return -errno;
	return (size_t)count == length ? 0 : -EFAULT;
}

/* A word at a time: where /proc/PID/mem does not pass over the memory's protection (proc(5),
 * proc_mem.force_override= of the kernel's command line). */
static int poke(pid_t tid, uint64_t address, const char *from, size_t length)
{
	for (size_t at = 0; at < length; at += sizeof(long)) {
		size_t left = length - at < sizeof(long) ? length - at : sizeof(long);
		long word = 0;

		memcpy(&word, from + at, left);
		if (ptrace(PTRACE_POKEDATA, tid, (void *)(address + at), (void *)word))
			return -errno;
	}
	return 0;
}

int memory_write_code(pid_t tid, uint64_t address, const void *from, size_t length)
{
	ssize_t count = -1;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		count = pwrite(fd, from, length, (off_t)address);
		close(fd);
	}
	return count == (ssize_t)length ? 0 : poke(tid, address, from, length);
}
