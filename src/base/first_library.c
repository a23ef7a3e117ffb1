/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AddressSanitizer's runtime, where it is a library, ends a program in which any other library
 * comes before it in the order of loading (compiler-rt, AsanCheckDynamicRTPrereqs()), as a
 * preloaded one does. It knows itself by two names, GCC's and Clang's; so do we. LeakSanitizer's
 * own runtime tells no leak of a block that our tables name, and with ours before it they name
 * most. Clang links both into the program itself by default, which comes before all libraries: then
 * they see none of ours.
 *
 * Accepted: where only a library of the program's needs the runtime, which is not looked for.
 */
#include "base/first_library.h"

#include "base/syscall.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define HEADERS_MAX 64
#define DYNAMIC_MAX 256
#define NAME_MOST 64 /* bytes of a library's name that are looked at */

/* A file's program headers; each is read when it is looked at, since stacks are small here. */
struct image {
	int fd;
	unsigned count;
	uint64_t headers;
};

static bool read_at(int fd, void *to, size_t length, uint64_t offset)
{
	return raw_syscall6(SYS_pread64, fd, (long)to, (long)length, (long)offset, 0, 0) ==
	       (long)length;
}

static bool find_headers(struct image *image)
{
	Elf64_Ehdr header;

	if (!read_at(image->fd, &header, sizeof(header), 0) ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	image->count = header.e_phnum < HEADERS_MAX ? header.e_phnum : HEADERS_MAX;
	image->headers = header.e_phoff;
	return true;
}

static bool read_header(const struct image *image, unsigned index, Elf64_Phdr *header)
{
	return read_at(image->fd, header, sizeof(*header),
		       image->headers + index * sizeof(*header));
}

static bool find_dynamic(const struct image *image, Elf64_Phdr *dynamic)
{
	for (unsigned i = 0; i < image->count; i++)
		if (read_header(image, i, dynamic) && dynamic->p_type == PT_DYNAMIC)
			return true;
	return false;
}

/* Where in the file what is mapped at `address` stands; 0: it stands in none of its parts. */
static uint64_t file_offset(const struct image *image, uint64_t address)
{
	Elf64_Phdr header;

	for (unsigned i = 0; i < image->count; i++)
		if (read_header(image, i, &header) && header.p_type == PT_LOAD &&
		    address - header.p_vaddr < header.p_filesz)
			return header.p_offset + (address - header.p_vaddr);
	return 0;
}

/* The next entry of the dynamic section from `*index` on that has `tag`. */
static bool find_entry(const struct image *image, const Elf64_Phdr *dynamic, unsigned *index,
		       Elf64_Sxword tag, Elf64_Dyn *entry)
{
	unsigned count = dynamic->p_filesz / sizeof(*entry) < DYNAMIC_MAX
				 ? (unsigned)(dynamic->p_filesz / sizeof(*entry))
				 : DYNAMIC_MAX;

	while (*index < count) {
		uint64_t offset = dynamic->p_offset + (*index)++ * sizeof(*entry);

		if (!read_at(image->fd, entry, sizeof(*entry), offset) || entry->d_tag == DT_NULL)
			return false;
		if (entry->d_tag == tag)
			return true;
	}
	return false;
}

bool first_library_is_named(const char *names)
{
	return strstr(names, "libasan.so") || strstr(names, "libclang_rt.asan") ||
	       strstr(names, "liblsan.so");
}

/* Names at the end of the file may be shorter than what is read of them: any part will do. */
static bool is_named_at(int fd, uint64_t offset)
{
	char name[NAME_MOST + 1] = "";

	return raw_syscall6(SYS_pread64, fd, (long)name, NAME_MOST, (long)offset, 0, 0) > 0 &&
	       first_library_is_named(name);
}

bool first_library_is_needed(int fd)
{
	struct image image = {.fd = fd};
	Elf64_Phdr dynamic;
	uint64_t strings;
	unsigned index = 0;
	Elf64_Dyn entry;

	if (!find_headers(&image) || !find_dynamic(&image, &dynamic) ||
	    !find_entry(&image, &dynamic, &index, DT_STRTAB, &entry))
		return false;
	strings = file_offset(&image, entry.d_un.d_ptr);
	index = 0;
	while (strings && find_entry(&image, &dynamic, &index, DT_NEEDED, &entry))
		if (is_named_at(fd, strings + entry.d_un.d_val))
			return true;
	return false;
}
