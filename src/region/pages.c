/* SPDX-License-Identifier: Apache-2.0 */
#include "region/pages.h"

#include "base/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* Longer than a line's part before the file name; the lock makes one buffer enough. */
#define BUFFER_SIZE 8192

/* On pages of its own: the kernel fills it while pages beside it may be closed already. */
static char buffer[BUFFER_SIZE] __attribute__((aligned(4096)));

struct lines {
	int fd;
	size_t at, filled;
};

struct mapping {
	uintptr_t start, end;
	int protection;
};

/* Next byte, or -1 at the end. */
static int next_byte(struct lines *lines)
{
	if (lines->at == lines->filled) {
		long got = raw_syscall3(SYS_read, lines->fd, (long)buffer, BUFFER_SIZE);

		if (got <= 0)
			return -1;
		lines->filled = (size_t)got;
		lines->at = 0;
	}
	return (unsigned char)buffer[lines->at++];
}

static uintptr_t parse_hexadecimal(struct lines *lines, int *stopped_at)
{
	uintptr_t value = 0;
	int byte;

	while ((byte = next_byte(lines)) > ' ' && byte != '-')
		value = value << 4 | (uintptr_t)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
	*stopped_at = byte;
	return value;
}

/* "start-end rwxp …": proc(5). */
static bool next_mapping(struct lines *lines, struct mapping *mapping)
{
	int byte;

	mapping->start = parse_hexadecimal(lines, &byte);
	mapping->end = parse_hexadecimal(lines, &byte);
	if (byte < 0)
		return false;
	mapping->protection = next_byte(lines) == 'r' ? PROT_READ : 0;
	mapping->protection |= next_byte(lines) == 'w' ? PROT_WRITE : 0;
	mapping->protection |= next_byte(lines) == 'x' ? PROT_EXEC : 0;
	do
		byte = next_byte(lines);
	while (byte >= 0 && byte != '\n');
	return true;
}

/* The kernel gives memory that may only be executed a key of its own, through mprotect(2) alone. */
static int protect(uintptr_t start, uintptr_t end, int protection, int key)
{
	if (key == 0 && protection == PROT_EXEC)
		return (int)raw_syscall3(SYS_mprotect, (long)start, (long)(end - start),
					 protection);
	return (int)raw_syscall6(SYS_pkey_mprotect, (long)start, (long)(end - start), protection,
				 key, 0, 0);
}

/* Changing a mapping splits and merges it, but never what lies beyond it: reading on is safe. */
static int set_key(struct lines *lines, uintptr_t start, uintptr_t end, int key)
{
	struct mapping mapping;
	uintptr_t covered = start;
	bool hole = false;

	while (covered < end && next_mapping(lines, &mapping)) {
		uintptr_t from = mapping.start > covered ? mapping.start : covered;
		uintptr_t to = mapping.end < end ? mapping.end : end;
		int err;

		if (from >= to)
			continue;
		hole |= from > covered;
		err = protect(from, to, mapping.protection, key);
		if (err)
			return err;
		covered = to;
	}
	return hole || covered < end ? -ENOMEM : 0;
}

int region_pages_set_key(uintptr_t start, uintptr_t end, int key)
{
	static const char path[] = "/proc/thread-self/maps"; /* the first thread may have ended */
	struct lines lines = {0};
	int err;

	if (start >= end)
		return 0;
	lines.fd =
		(int)raw_syscall6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (lines.fd < 0)
		return lines.fd;
	err = set_key(&lines, start, end, key);
	raw_close(lines.fd);
	return err;
}
