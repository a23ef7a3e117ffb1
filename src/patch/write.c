/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing code that other threads may be about to execute. Where the five bytes lie in one aligned
 * block of 16 they are exchanged by one locked store. Else the last four are written first and the
 * first byte after them, with every CPU synchronised in between: the caller has a breakpoint armed
 * at the first byte. Intel SDM volume 3, 9.1.3 (cross-modifying code); membarrier(2).
 */
#include "patch/patch.h"

#include "base/syscall.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ul
#define BLOCK 16u

static int synchronise_cpus(void)
{
	return (int)raw_syscall3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

/* ---- protection ------------------------------------------------------------------------- */

/* One mapping must hold all of it; a shared one would change the file. */
static int find_protection(struct patch_change *change)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t at = change->entry;
	char line[512], mode[5];
	unsigned long start, end;
	int err = -EFAULT;

	if (!maps)
		return -EACCES;
	while (err == -EFAULT && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, mode) != 3 || at < start || at >= end)
			continue;
		err = mode[3] == 'p' && at + PATCH_JUMP_LENGTH <= end ? 0 : -EACCES;
		change->protection = (mode[0] == 'r' ? PROT_READ : 0) |
				     (mode[1] == 'w' ? PROT_WRITE : 0) |
				     (mode[2] == 'x' ? PROT_EXEC : 0);
	}
	fclose(maps);
	change->page = at & ~(PAGE - 1);
	change->pages_end = (at + PATCH_JUMP_LENGTH + PAGE - 1) & ~(PAGE - 1);
	return err;
}

static int protect(const struct patch_change *change, int protection)
{
	return (int)raw_syscall3(SYS_mprotect, (long)change->page,
				 (long)(change->pages_end - change->page), protection);
}

/* ---- storing ---------------------------------------------------------------------------- */

/* cmpxchg16b: the block's other bytes are written back as they are. */
static void store_in_block(uintptr_t at, const uint8_t *bytes)
{
	volatile uint8_t *block = (volatile uint8_t *)(at & ~(uintptr_t)(BLOCK - 1));
	uint64_t before[2], after[2];
	bool done;

	memcpy(before, (const void *)block, BLOCK);
	do {
		memcpy(after, before, BLOCK);
		memcpy((uint8_t *)after + at % BLOCK, bytes, PATCH_JUMP_LENGTH);
		__asm__ volatile("lock cmpxchg16b %1"
				 : "=@ccz"(done), "+m"(*(volatile uint8_t(*)[BLOCK])block),
				   "+a"(before[0]), "+d"(before[1])
				 : "b"(after[0]), "c"(after[1])
				 : "memory");
	} while (!done);
}

static void store_across_blocks(uintptr_t at, const uint8_t *bytes)
{
	volatile uint8_t *code = (volatile uint8_t *)at;

	for (int i = 1; i < PATCH_JUMP_LENGTH; i++)
		code[i] = bytes[i];
	synchronise_cpus();
	code[0] = bytes[0];
}

void patch_write(const struct patch_change *change, const uint8_t bytes[PATCH_JUMP_LENGTH])
{
	if (change->entry % BLOCK + PATCH_JUMP_LENGTH <= BLOCK)
		store_in_block(change->entry, bytes);
	else
		store_across_blocks(change->entry, bytes);
	synchronise_cpus();
}

/* Write a byte of each page as it is: the kernel gives us a copy of a file's page then. */
static void own_pages(const struct patch_change *change)
{
	for (uintptr_t at = change->page; at < change->pages_end; at += PAGE)
		__atomic_fetch_or((uint8_t *)at, 0, __ATOMIC_SEQ_CST);
}

/* All protections are read before the first is changed: functions may share a page. */
int patch_write_begin(struct tl_patch *patch)
{
	int err = (int)raw_syscall3(SYS_membarrier,
				    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);

	for (size_t i = 0; i < patch->count && !err; i++)
		err = find_protection(&patch->changes[i]);
	if (err)
		return err;
	for (size_t i = 0; i < patch->count && !err; i++) {
		err = protect(&patch->changes[i], patch->changes[i].protection | PROT_WRITE);
		if (!err)
			own_pages(&patch->changes[i]);
	}
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
