/* SPDX-License-Identifier: Apache-2.0 */
#include "process/pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define PRESENT (1ull << 63)
#define SWAPPED (1ull << 62)

static bool is_page_filled(int fd, uint64_t page)
{
	uint64_t entry;

	return pread(fd, &entry, sizeof(entry), (off_t)(page * sizeof(entry))) ==
		       (ssize_t)sizeof(entry) &&
	       entry & (PRESENT | SWAPPED);
}

int pagemap_open(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

uint64_t pagemap_present(int fd, uint64_t address, unsigned pages)
{
	uint64_t entry[PAGEMAP_PAGES], present = 0;
	ssize_t got;

	if (pages > PAGEMAP_PAGES)
		pages = PAGEMAP_PAGES;
	got = pread(fd, entry, pages * sizeof(entry[0]),
		    (off_t)(address / PAGEMAP_PAGE * sizeof(entry[0])));
	for (unsigned i = 0; got > 0 && i < (size_t)got / sizeof(entry[0]); i++)
		present |= (entry[i] & PRESENT ? 1ull : 0) << i;
	return present;
}

bool pagemap_is_filled(pid_t pid, uint64_t address, size_t length)
{
	bool filled;
	int fd;

	if (!length || address + length < address)
		return false;
	fd = pagemap_open(pid);
	filled = fd >= 0;
	for (uint64_t page = address / PAGEMAP_PAGE;
	     filled && page <= (address + length - 1) / PAGEMAP_PAGE; page++)
		filled = is_page_filled(fd, page);
	if (fd >= 0)
		close(fd);
	return filled;
}
