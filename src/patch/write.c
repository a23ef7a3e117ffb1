/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps at the top of patch.h. Bytes are stored one by one, so whatever part of a step a CPU
 * sees, each instruction is either whole or begins with a trap; after a step every CPU executes a
 * serialising instruction before it goes on in this process. Intel SDM volume 3, 9.1.3
 * (cross-modifying code); membarrier(2).
 */
#include "patch/patch.h"

#include "base/proc_line.h"
#include "base/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define PAGE 4096ul

static int synchronise_cpus(void)
{
	return (int)raw_syscall3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

/* ---- protection ------------------------------------------------------------------------- */

/* PROCMAP_QUERY of Linux 6.11 (uapi/linux/fs.h), which older headers lack. It is tried before the
 * text of /proc/self/maps, which has hundreds of lines in large programs, for each of which the
 * kernel holds the mapping's lock. */
struct procmap_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
#define PROCMAP_QUERY _IOWR('f', 17, struct procmap_query)
_Static_assert(sizeof(struct procmap_query) == 104, "uapi/linux/fs.h");

/* The mapping that holds an address, with what the text's letters say. */
struct mapping {
	unsigned long end;
	bool readable, writable, executable, shared;
};

static int query_mapping(int maps, uintptr_t at, struct mapping *mapping)
{
	struct procmap_query query = {.size = sizeof(query), .query_addr = at};
	int err = raw_ioctl(maps, PROCMAP_QUERY, (unsigned long)&query);

	mapping->end = query.vma_end;
	mapping->readable = query.vma_flags & 1;
	mapping->writable = query.vma_flags & 2;
	mapping->executable = query.vma_flags & 4;
	mapping->shared = query.vma_flags & 8;
	return err;
}

static int read_mapping(uintptr_t at, struct mapping *mapping)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int err = maps ? -EFAULT : -EACCES;
	char line[512], mode[5];
	unsigned long start;

	while (err == -EFAULT && proc_line_next(maps, line, sizeof(line))) {
		if (sscanf(line, "%lx-%lx %4s", &start, &mapping->end, mode) != 3 || at < start ||
		    at >= mapping->end)
			continue;
		mapping->readable = mode[0] == 'r';
		mapping->writable = mode[1] == 'w';
		mapping->executable = mode[2] == 'x';
		mapping->shared = mode[3] != 'p';
		err = 0;
	}
	if (maps)
		fclose(maps);
	return err;
}

/* Where the jump will lie, and with which protection. One mapping must hold all of it, and be
 * private: writing to a shared one would change the file. */
static int find_protection(struct patch_change *change, int maps)
{
	uintptr_t at = change->site->entry;
	struct mapping mapping = {0};
	int err = query_mapping(maps, at, &mapping);

	if (err)
		err = read_mapping(at, &mapping);
	if (!err && (mapping.shared || at + PATCH_JUMP_LENGTH > mapping.end))
		err = -EACCES;
	change->protection = (mapping.readable ? PROT_READ : 0) |
			     (mapping.writable ? PROT_WRITE : 0) |
			     (mapping.executable ? PROT_EXEC : 0);
	change->page = at & ~(PAGE - 1);
	change->pages_end = (at + PATCH_JUMP_LENGTH + PAGE - 1) & ~(PAGE - 1);
	return err;
}

static int find_protections(struct tl_patch *patch)
{
	long maps = raw_syscall3(SYS_open, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	int err = maps < 0 ? -EACCES : 0;

	for (size_t i = 0; i < patch->count && !err; i++)
		err = find_protection(&patch->changes[i], (int)maps);
	if (maps >= 0)
		raw_close((int)maps);
	return err;
}

static int protect(const struct patch_change *change, int protection)
{
	return (int)raw_syscall3(SYS_mprotect, (long)change->page,
				 (long)(change->pages_end - change->page), protection);
}

/* All protections are read before the first is changed: functions may share a page. */
int patch_write_begin(struct tl_patch *patch)
{
	int err = (int)raw_syscall3(SYS_membarrier,
				    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);

	/* It fails on a kernel that does not know the command (before Linux 4.16). */
	err = err ? -ENOSYS : find_protections(patch);
	if (err)
		return err;
	patch_pace();
	for (size_t i = 0; i < patch->count && !err; i++)
		err = protect(&patch->changes[i], patch->changes[i].protection | PROT_WRITE);
	if (err)
		patch_write_end(patch);
	return err;
}

/* Also after a page could not be made writable, which this leaves as it is. */
void patch_write_end(struct tl_patch *patch)
{
	for (size_t i = 0; i < patch->count; i++)
		protect(&patch->changes[i], patch->changes[i].protection);
}

/* ---- storing ---------------------------------------------------------------------------- */

static void store(const struct patch_site *site, unsigned i, uint8_t byte)
{
	*(volatile uint8_t *)(site->entry + i) = byte;
}

void patch_write_traps(const struct tl_patch *patch)
{
	patch_site_traps(true);
	for (size_t c = 0; c < patch->count; c++) {
		const struct patch_site *site = patch->changes[c].site;

		store(site, 0, PATCH_TRAP);
		for (unsigned i = 1; i < PATCH_JUMP_LENGTH; i++)
			if (patch_begins(site, i))
				store(site, i, site->jump[i]);
	}
	synchronise_cpus();
}

static void write_tails(const struct tl_patch *patch, bool jump)
{
	for (size_t c = 0; c < patch->count; c++) {
		const struct patch_site *site = patch->changes[c].site;

		for (unsigned i = 1; i < PATCH_JUMP_LENGTH; i++)
			if (!patch_begins(site, i))
				store(site, i, jump ? site->jump[i] : site->original[i]);
	}
	synchronise_cpus();
}

void patch_write_jumps(const struct tl_patch *patch)
{
	write_tails(patch, true);
	for (size_t c = 0; c < patch->count; c++)
		store(patch->changes[c].site, 0, patch->changes[c].site->jump[0]);
	patch_site_traps(false);
	synchronise_cpus();
}

void patch_write_originals(const struct tl_patch *patch)
{
	write_tails(patch, false);
	for (size_t c = 0; c < patch->count; c++) {
		const struct patch_site *site = patch->changes[c].site;

		for (unsigned i = 0; i < PATCH_JUMP_LENGTH; i++)
			if (patch_begins(site, i))
				store(site, i, site->original[i]);
	}
	patch_site_traps(false);
	synchronise_cpus();
}

bool patch_is_written(const struct patch_site *site, bool jump)
{
	uint8_t bytes[PATCH_JUMP_LENGTH];

	return patch_read(site->entry, bytes, sizeof(bytes)) == sizeof(bytes) &&
	       !memcmp(bytes, jump ? site->jump : site->original, sizeof(bytes));
}
