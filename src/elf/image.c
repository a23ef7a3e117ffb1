/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/image.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NOTES_MAX 4096
#define HEADERS_MAX 128
#define PAGE_MASK 4095ull

struct source {
	struct symbol_memory memory;
	bool mapped; /* in memory: notes lie at their linked address, not at their offset */
};

static int read_fd(void *context, uint64_t address, void *to, size_t length)
{
	ssize_t got = pread((int)(intptr_t)context, to, length, (off_t)address);

	if (got < 0)
		return -errno;
	return (size_t)got == length ? 0 : -ENOEXEC;
}

struct mapped_base {
	const struct symbol_memory *memory;
	uint64_t base;
};

static int read_mapped(void *context, uint64_t address, void *to, size_t length)
{
	const struct mapped_base *mapped = context;

	return symbol_memory_read(mapped->memory, mapped->base + address, to, length);
}

static bool header_is_ours(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == EM_X86_64 &&
	       (header->e_type == ET_EXEC || header->e_type == ET_DYN) &&
	       header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= HEADERS_MAX;
}

static struct symbol_segment segment_of(const Elf64_Phdr *header)
{
	return (struct symbol_segment){
		.address = header->p_vaddr,
		.offset = header->p_offset,
		.file_size = header->p_filesz,
		.memory_size = header->p_memsz,
		.alignment = header->p_align,
		.flags = header->p_flags,
	};
}

static bool segment_is_sane(const struct symbol_segment *segment)
{
	const uint64_t limit = 1ull << 47;

	return segment->address < limit && segment->memory_size < limit &&
	       segment->offset < limit && segment->file_size <= segment->memory_size;
}

static void read_notes(const struct source *source, const Elf64_Phdr *header, uint64_t first,
		       struct symbol_image *image)
{
	uint8_t notes[NOTES_MAX];
	size_t length = header->p_filesz < NOTES_MAX ? header->p_filesz : NOTES_MAX;
	uint64_t at = source->mapped ? header->p_vaddr - first : header->p_offset;

	if (symbol_memory_read(&source->memory, at, notes, length) == 0)
		symbol_build_id_from_notes(notes, length, &image->build_id);
}

static uint64_t first_address(const struct symbol_image *image)
{
	for (unsigned i = 0; i < image->segment_count; i++)
		if ((image->segment[i].offset & ~PAGE_MASK) == 0)
			return (image->segment[i].address - image->segment[i].offset) & ~PAGE_MASK;
	return 0;
}

static void keep_segment(struct symbol_image *image, const Elf64_Phdr *header)
{
	struct symbol_segment segment = segment_of(header);

	if (!segment_is_sane(&segment))
		return;
	if (header->p_type == PT_LOAD && image->segment_count < SYMBOL_IMAGE_SEGMENTS)
		image->segment[image->segment_count++] = segment;
	if (header->p_type == PT_TLS) {
		image->tls = segment;
		image->has_tls = true;
	}
}

static int read_image(const struct source *source, struct symbol_image *image)
{
	Elf64_Ehdr header;
	Elf64_Phdr headers[HEADERS_MAX];
	int error;

	memset(image, 0, sizeof(*image));
	error = symbol_memory_read(&source->memory, 0, &header, sizeof(header));
	if (error)
		return error;
	if (!header_is_ours(&header) || header.e_phnum == 0)
		return -ENOEXEC;
	image->type = header.e_type;
	error = symbol_memory_read(&source->memory, header.e_phoff, headers,
				   header.e_phnum * sizeof(headers[0]));
	if (error)
		return error;
	for (unsigned i = 0; i < header.e_phnum; i++)
		keep_segment(image, &headers[i]);
	for (unsigned i = 0; i < header.e_phnum && image->build_id.length == 0; i++)
		if (headers[i].p_type == PT_NOTE)
			read_notes(source, &headers[i], first_address(image), image);
	return image->segment_count ? 0 : -ENOEXEC;
}

int symbol_image_read_file(int fd, struct symbol_image *image)
{
	struct source source = {{read_fd, (void *)(intptr_t)fd}, false};

	return read_image(&source, image);
}

int symbol_image_read_memory(const struct symbol_memory *memory, uint64_t base,
			     struct symbol_image *image)
{
	struct mapped_base mapped = {memory, base};
	struct source source = {{read_mapped, &mapped}, true};

	return read_image(&source, image);
}

void symbol_image_range(const struct symbol_image *image, uint64_t *low, uint64_t *high)
{
	*low = image->segment_count ? UINT64_MAX : 0;
	*high = 0;
	for (unsigned i = 0; i < image->segment_count; i++) {
		const struct symbol_segment *segment = &image->segment[i];
		uint64_t start = segment->address & ~PAGE_MASK;
		uint64_t end = (segment->address + segment->memory_size + PAGE_MASK) & ~PAGE_MASK;

		if (start < *low)
			*low = start;
		if (end > *high)
			*high = end;
	}
}

int symbol_image_address(const struct symbol_image *image, uint64_t offset, bool executable,
			 uint64_t *address)
{
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < image->segment_count; i++) {
			const struct symbol_segment *segment = &image->segment[i];
			uint64_t start = segment->offset & ~PAGE_MASK;

			if (pass == 0 && executable != !!(segment->flags & PF_X))
				continue;
			if (offset < start || offset >= segment->offset + segment->file_size)
				continue;
			*address = offset - segment->offset + segment->address;
			return 0;
		}
	}
	return -ENOENT;
}

bool symbol_image_is_code(const struct symbol_image *image, uint64_t address)
{
	for (unsigned i = 0; i < image->segment_count; i++) {
		const struct symbol_segment *segment = &image->segment[i];

		if ((segment->flags & PF_X) && address >= segment->address &&
		    address - segment->address < segment->memory_size)
			return true;
	}
	return false;
}
