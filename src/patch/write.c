/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps at the top of patch.h. Bytes are stored one by one, so whatever part of a step a CPU
 * sees, each instruction is either whole or begins with a trap; after a step every CPU executes a
 * serialising instruction before it goes on in this process. Intel SDM volume 3, 9.1.3
 * (cross-modifying code); membarrier(2).
 */
#include "patch/patch.h"

#include "base/syscall.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ul

static int synchronise_cpus(void)
{
	return (int)raw_syscall3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

/* ---- protection ------------------------------------------------------------------------- */

/* One mapping must hold all of it; a shared one would change the file. */
static int find_protection(struct patch_change *change, FILE *maps)
{
	uintptr_t at = change->site->entry;
	char line[512], mode[5];
	unsigned long start, end;
	int err = -EFAULT;

	rewind(maps);
	while (err == -EFAULT && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, mode) != 3 || at < start || at >= end)
			continue;
		err = mode[3] == 'p' && at + PATCH_JUMP_LENGTH <= end ? 0 : -EACCES;
		change->protection = (mode[0] == 'r' ? PROT_READ : 0) |
				     (mode[1] == 'w' ? PROT_WRITE : 0) |
				     (mode[2] == 'x' ? PROT_EXEC : 0);
	}
	change->page = at & ~(PAGE - 1);
	change->pages_end = (at + PATCH_JUMP_LENGTH + PAGE - 1) & ~(PAGE - 1);
	return err;
}

static int find_protections(struct tl_patch *patch)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int err = maps ? 0 : -EACCES;

	for (size_t i = 0; i < patch->count && !err; i++)
		err = find_protection(&patch->changes[i], maps);
	if (maps)
		fclose(maps);
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

	/* An old kernel does not know the command. */
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

/* A page that could not be made writable is left as it is by this. */
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
