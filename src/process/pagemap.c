/* SPDX-License-Identifier: Apache-2.0 */
#include "process/pagemap.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define PAGE 4096u
#define PRESENT (1ull << 63)
#define SWAPPED (1ull << 62)

static bool is_page_filled(int fd, uint64_t page)
{
	uint64_t entry;

	return pread(fd, &entry, sizeof(entry), (off_t)(page * sizeof(entry))) ==
		       (ssize_t)sizeof(entry) &&
	       entry & (PRESENT | SWAPPED);
}

bool pagemap_is_filled(pid_t pid, uint64_t address, size_t length)
{
	char path[64];
	bool filled;
	int fd;

	if (!length || address + length < address)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	filled = fd >= 0;
	for (uint64_t page = address / PAGE; filled && page <= (address + length - 1) / PAGE;
	     page++)
		filled = is_page_filled(fd, page);
	if (fd >= 0)
		close(fd);
	return filled;
}
