/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/vdso.h"

#include "inject/memory.h"
#include "inject/status.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define IMAGE_MAX 16384	   /* of a vDSO: two pages so far */
#define CODE_MAX (1 << 20) /* bytes of other files that are looked through */

struct image {
	uint64_t start;
	size_t length;
	uint8_t bytes[IMAGE_MAX];
};

static const void *at(const struct image *image, uint64_t offset, size_t length)
{
	return offset <= image->length && length <= image->length - offset ? image->bytes + offset
									   : NULL;
}

static int is_vdso(void *context, const struct mapping *mapping)
{
	struct image *image = context;

	if (strcmp(mapping->name, "[vdso]") != 0)
		return 0;
	image->start = mapping->start;
	image->length = mapping->end - mapping->start;
	return 1;
}

static bool is_named(const struct image *image, const Elf64_Shdr *strings, uint32_t name,
		     const char *wanted)
{
	size_t length = strlen(wanted) + 1;
	const char *text;

	if (name > strings->sh_size)
		return false;
	text = at(image, strings->sh_offset + name, length);
	return text && memcmp(text, wanted, length) == 0;
}

static uint64_t find_in(const struct image *image, const Elf64_Shdr *table,
			const Elf64_Shdr *strings, const char *wanted)
{
	for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++) {
		const Elf64_Sym *symbol =
			at(image, table->sh_offset + i * sizeof(Elf64_Sym), sizeof(*symbol));

		if (symbol && symbol->st_value < image->length &&
		    is_named(image, strings, symbol->st_name, wanted))
			return image->start + symbol->st_value;
	}
	return 0;
}

/* The vDSO is linked at zero and keeps its section headers. */
static uint64_t find_symbol(const struct image *image, const char *wanted)
{
	const Elf64_Ehdr *header = at(image, 0, sizeof(*header));

	for (unsigned i = 0; header && i < header->e_shnum; i++) {
		const Elf64_Shdr *table =
			at(image, header->e_shoff + i * sizeof(Elf64_Shdr), sizeof(*table));
		const Elf64_Shdr *strings;

		if (!table || table->sh_type != SHT_DYNSYM)
			continue;
		strings = at(image, header->e_shoff + table->sh_link * sizeof(Elf64_Shdr),
			     sizeof(*strings));
		return strings ? find_in(image, table, strings, wanted) : 0;
	}
	return 0;
}

static uint64_t find_call(const uint8_t *bytes, size_t length, uint64_t start)
{
	const uint8_t *found = memmem(bytes, length, "\x0f\x05", 2);

	return found ? start + (uint64_t)(found - bytes) : 0;
}

struct search {
	pid_t pid;
	bool any; /* some mapping */
	uint64_t call;
};

/* A program that does not have the kernel's code mapped has code of its own that makes system
 * calls. */
static int look_through(void *context, const struct mapping *mapping)
{
	static uint8_t bytes[4096];
	struct search *search = context;

	search->any = true;
	for (uint64_t page = mapping->start;
	     mapping->executable && !search->call && page < mapping->end &&
	     page < mapping->start + CODE_MAX;
	     page += sizeof(bytes))
		if (!memory_read(search->pid, page, bytes, sizeof(bytes)))
			search->call = find_call(bytes, sizeof(bytes), page);
	return search->call != 0;
}

int vdso_find(pid_t pid, struct vdso *vdso)
{
	static struct image image; /* one thread; large */
	struct search search = {.pid = pid};
	int found = mappings_read(pid, is_vdso, &image), err;

	*vdso = (struct vdso){0, 0};
	if (found < 0)
		return found;
	err = found && image.length <= sizeof(image.bytes)
		      ? memory_read(pid, image.start, image.bytes, image.length)
		      : -ENOENT;
	/* The process is ending: its mappings are listed a moment longer than its memory can be
	 * read. */
	if (err == -ESRCH)
		return err;
	if (!err) {
		vdso->call = find_call(image.bytes, image.length, image.start);
		vdso->clock = find_symbol(&image, "__vdso_clock_gettime");
	}
	if (!vdso->call) {
		mappings_read(pid, look_through, &search);
		vdso->call = search.call;
	}
	if (!vdso->call && !search.any)
		return -ESRCH;
	return vdso->call ? 0 : -ENOENT;
}
