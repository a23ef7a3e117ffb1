/* SPDX-License-Identifier: Apache-2.0 */
#include "process/entry_point.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

uint64_t process_auxiliary(pid_t pid, uint64_t type)
{
	Elf64_auxv_t vector[64];
	uint64_t value = 0;
	char path[64];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, vector, sizeof(vector));
	close(fd);
	for (size_t i = 0; length > 0 && i < (size_t)length / sizeof(vector[0]); i++)
		if (vector[i].a_type == type)
			value = vector[i].a_un.a_val;
	return value;
}

uint64_t process_entry_point(pid_t pid)
{
	return process_auxiliary(pid, AT_ENTRY);
}
