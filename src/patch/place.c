/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a site's trampoline goes, so that the jump's distance holds a trapping byte wherever an
 * instruction began. The distance's bytes, lowest first, lie at entry + 1 … entry + 4:
 *
 *	three low ones	PATCH_TRAP where an instruction began there, else any byte
 *	the highest	where one began there, one of the bytes that are no instruction in 64-bit
 *			mode (1.6 GB to 100 MB up, 800 MB down), else any byte
 *
 * Three pages are mapped for each site and stay, since a thread may be about to execute them:
 *
 *	+0	the trampoline (it may run over into the next page) and the copy
 *	+8192	data: where the trampoline leads
 */
#include "patch/patch.h"

#include "base/syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ul
#define CODE_LENGTH (2 * PAGE)
#define LENGTH (3 * PAGE)
#define LOWEST 0x10000ul /* vm.mmap_min_addr */
#define MIDDLE_STEP 8	 /* of the third byte, where any will do: places are tried 512 KiB apart */
#define COPY_HIGH 3072	 /* where the copy lies when the trampoline is in the page's lower half */
#define TRAMPOLINE_LENGTH 6

_Static_assert(COPY_HIGH + PATCH_COPY_MAX <= PAGE, "the copy fits behind the trampoline");

/* Bytes that are no instruction in 64-bit mode (Intel SDM volume 2, table A-2), but for d5 and d6,
 * which are coming into use. Those that lead to the nearest places come last, since the heap grows
 * there. */
static const uint8_t invalid_opcodes[] = {0x61, 0x60, 0x3f, 0x37, 0x2f, 0x27, 0x1f,
					  0x1e, 0x17, 0x16, 0x0e, 0x07, 0x06, 0xce};

struct search {
	struct patch_site *site;
	uint8_t *pages; /* mapped, writable; NULL: not yet */
	uintptr_t trampoline;
};

static uint8_t *map_at(uintptr_t hint)
{
	long got = raw_syscall6(SYS_mmap, (long)hint, LENGTH, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return raw_failed(got) ? NULL : (uint8_t *)got;
}

static bool try_distance(struct search *search, const uint8_t distance[4])
{
	uintptr_t after = search->site->entry + PATCH_JUMP_LENGTH;
	int32_t value;

	memcpy(&value, distance, sizeof(value));
	search->trampoline = after + (uintptr_t)(intptr_t)value;
	if (search->trampoline < LOWEST || (value > 0) != (search->trampoline > after))
		return false;
	search->pages = map_at(search->trampoline & ~(PAGE - 1));
	return search->pages != NULL;
}

/* Tries distances whose highest byte is this one. */
static bool try_window(struct search *search, uint8_t highest)
{
	uint8_t distance[4] = {0, 0, 0, highest};
	bool fixed = patch_begins(search->site, 3);

	for (int i = 0; i < 2; i++)
		if (patch_begins(search->site, (unsigned)i + 1))
			distance[i] = PATCH_TRAP;
	if (fixed)
		distance[2] = PATCH_TRAP;
	if (fixed && !patch_begins(search->site, 2)) {
		/* The second byte may be any: places 4 KiB apart are tried. */
		for (int second = 0; second < 256 && !search->pages; second += 16) {
			distance[1] = (uint8_t)second;
			try_distance(search, distance);
		}
		return search->pages != NULL;
	}
	for (int third = 0; third < 256 && !search->pages; third += fixed ? 256 : MIDDLE_STEP) {
		distance[2] = fixed ? PATCH_TRAP : (uint8_t)(highest & 0x80 ? 255 - third : third);
		try_distance(search, distance);
	}
	return search->pages != NULL;
}

static bool search_place(struct search *search)
{
	if (patch_begins(search->site, 4)) {
		for (size_t i = 0; i < sizeof(invalid_opcodes); i++)
			if (try_window(search, invalid_opcodes[i]))
				return true;
		return false;
	}
	/* Places far from the loaded objects come first: what lies close to them is where they, and
	 * the heap, grow. */
	for (int away = 4; away < 127; away++)
		if (try_window(search, (uint8_t)(255 - away)) || try_window(search, (uint8_t)away))
			return true;
	for (int away = 0; away < 4; away++)
		if (try_window(search, (uint8_t)away) || try_window(search, (uint8_t)(255 - away)))
			return true;
	return false;
}

/* jmp *destination(%rip) */
static void write_trampoline(const struct search *search)
{
	uint8_t *at = (uint8_t *)search->trampoline;
	int32_t distance = (int32_t)((uintptr_t)search->site->destination -
				     (search->trampoline + TRAMPOLINE_LENGTH));

	at[0] = 0xff;
	at[1] = 0x25;
	memcpy(at + 2, &distance, sizeof(distance));
}

static void write_jump(const struct search *search)
{
	struct patch_site *site = search->site;
	int32_t distance = (int32_t)(search->trampoline - (site->entry + PATCH_JUMP_LENGTH));

	site->jump[0] = 0xe9;
	memcpy(site->jump + 1, &distance, sizeof(distance));
}

static int fill_pages(const struct search *search)
{
	struct patch_site *site = search->site;
	bool low = search->trampoline % PAGE < PAGE / 2;
	int err;

	site->destination = (uintptr_t *)(void *)(search->pages + CODE_LENGTH);
	site->copy = (uintptr_t)search->pages + (low ? COPY_HIGH : 0);
	write_trampoline(search);
	write_jump(search);
	err = patch_copy(site, (uint8_t *)site->copy);
	if (!err &&
	    raw_syscall3(SYS_mprotect, (long)search->pages, CODE_LENGTH, PROT_READ | PROT_EXEC))
		err = -EACCES;
	return err;
}

int patch_place(struct patch_site *site)
{
	struct search search = {.site = site};
	int err = search_place(&search) ? fill_pages(&search) : -ENOMEM;

	if (err) {
		site->copy = 0;
		if (search.pages)
			raw_syscall3(SYS_munmap, (long)search.pages, LENGTH, 0);
	}
	return err;
}
