/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes chosen allocations of Trapline fail: preloaded into a `trapline` command. In the program
 * under it only those that the preload library makes count.
 *
 *	FAULT_ROLE=controller|program FAULT_LIST=FILE     appends each place that allocates
 *	FAULT_ROLE=… FAULT_SITE=OFFSET [FAULT_NTH=N]      those of this place return NULL
 *
 * A place is the offset, in Trapline's own file, of the innermost return address of Trapline's on
 * the stack, as in inject.c.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOKED_AT 2048 /* words of stack */
#define SITES_MAX 2048

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void *__libc_stack_end;

static uintptr_t base, text, text_end, wanted, stack_top;
static unsigned nth, seen_wanted;
static bool is_program;
static int list = -1;
static uintptr_t sites[SITES_MAX];
static unsigned site_count;
static __thread bool inside __attribute__((tls_model("initial-exec")));

static int find_text(struct dl_phdr_info *info, size_t size, void *name)
{
	const char *file = strrchr(info->dlpi_name, '/');

	(void)size;
	if (name ? !file || strcmp(file + 1, name) != 0 : info->dlpi_name[0] != '\0')
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD && header->p_flags & PF_X) {
			base = info->dlpi_addr;
			text = base + header->p_vaddr;
			text_end = text + header->p_memsz;
		}
	}
	return 1;
}

__attribute__((constructor)) static void start(void)
{
	const char *role = getenv("FAULT_ROLE"), *value;
	char path[4096] = "";
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	bool is_controller = length > 9 && strcmp(path + length - 9, "/trapline") == 0;

	if (!role || is_controller != (strcmp(role, "controller") == 0))
		return;
	is_program = !is_controller;
	value = getenv("FAULT_SITE");
	wanted = value ? strtoul(value, NULL, 0) : 0;
	value = getenv("FAULT_NTH");
	nth = value ? (unsigned)atoi(value) : 0;
	value = getenv("FAULT_LIST");
	if (value)
		list = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	stack_top = (uintptr_t)__libc_stack_end;
	dl_iterate_phdr(find_text, is_controller ? NULL : (void *)"libtrapline-agent.so");
}

/* call rel32, or call *r/m with two to seven bytes (Intel SDM volume 2, CALL). */
static bool follows_call(const uint8_t *code)
{
	static const int lengths[] = {2, 3, 4, 6, 7};

	if (code[-5] == 0xe8)
		return true;
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		if (code[-lengths[i]] == 0xff && (code[1 - lengths[i]] >> 3 & 7) == 2)
			return true;
	return false;
}

/* Inside a function of libc's that the preload library stands in for, what libc allocates is the
 * program's: pthread_create(), popen(). */
static bool is_the_programs(uintptr_t address)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	return dladdr1((void *)address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       address - (uintptr_t)info.dli_saddr <= symbol->st_size;
}

static uintptr_t find_site(void)
{
	uintptr_t *word = __builtin_frame_address(0);

	/* Other threads' stacks are not looked at: the controller has one thread. */
	for (unsigned i = 0; i < LOOKED_AT && (uintptr_t)(word + i) < stack_top; i++)
		if (word[i] >= text + 8 && word[i] < text_end &&
		    follows_call((const uint8_t *)word[i]))
			return is_program && is_the_programs(word[i]) ? 0 : word[i] - base;
	return 0;
}

static void note(uintptr_t site)
{
	for (unsigned i = 0; i < site_count; i++)
		if (sites[i] == site)
			return;
	if (site_count < SITES_MAX)
		sites[site_count++] = site;
	dprintf(list, "%#lx\n", (unsigned long)site);
}

static bool fails(void)
{
	uintptr_t site;
	bool result;

	if (!text || inside)
		return false;
	inside = true;
	site = find_site();
	if (site && list >= 0)
		note(site);
	result = site && site == wanted && (seen_wanted++, !nth || seen_wanted == nth);
	inside = false;
	if (result)
		errno = ENOMEM;
	return result;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	return fails() ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = fails() ? NULL : __libc_memalign(alignment, size);
	return *block ? 0 : ENOMEM;
}
