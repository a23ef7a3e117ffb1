/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/image.h"

#include "graft/version.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ull
#define SIZE_MOST (64ull << 20)
#define HEADERS_MOST 64
#define ENTRIES_MOST 256 /* of the dynamic section */
#define CONSTRUCTORS_MOST 64
#define ALL_PAGES(size) (((size) + PAGE - 1) & ~(PAGE - 1))

int graft_refuse(struct graft_error *error, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return err;
}

static int refuse_file(struct graft_error *error)
{
	return graft_refuse(error, -ENOEXEC,
			    "is no shared library for this machine, or is damaged: build it with "
			    "`cc -shared -fPIC`");
}

/* ---- bytes -------------------------------------------------------------------------------- */

/* `length` bytes from `offset` on, of `bytes` or of `bound`; NULL: they are not all there. */
static uint8_t *at(const struct graft_image *image, uint8_t *bytes, uint64_t offset,
		   uint64_t length)
{
	return offset <= image->size && length <= image->size - offset ? bytes + offset : NULL;
}

static bool copy(const struct graft_image *image, uint64_t offset, void *to, size_t length)
{
	const uint8_t *from = at(image, image->bytes, offset, length);

	if (from)
		memcpy(to, from, length);
	return from != NULL;
}

static bool copy_entry(const struct graft_image *image, const struct graft_table *table,
		       uint64_t index, void *to, size_t length)
{
	return index < table->size / length &&
	       copy(image, table->offset + index * length, to, length);
}

/* A name that ends within the table; NULL: there is none. */
static const char *name_at(const struct graft_image *image, uint64_t offset)
{
	const uint8_t *names = at(image, image->bytes, image->names.offset, image->names.size);

	if (!names || offset >= image->names.size ||
	    !memchr(names + offset, 0, image->names.size - offset))
		return NULL;
	return (const char *)names + offset;
}

/* ---- segments ----------------------------------------------------------------------------- */

struct file {
	int fd;
	Elf64_Ehdr header;
	Elf64_Phdr segment[HEADERS_MOST];
};

static bool read_at(int fd, void *to, uint64_t length, uint64_t offset)
{
	return offset < INT64_MAX && pread(fd, to, length, (off_t)offset) == (ssize_t)length;
}

static bool read_headers(struct file *file)
{
	const Elf64_Ehdr *header = &file->header;

	return read_at(file->fd, &file->header, sizeof(file->header), 0) &&
	       !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == EM_X86_64 && header->e_type == ET_DYN &&
	       header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum &&
	       header->e_phnum <= HEADERS_MOST &&
	       read_at(file->fd, file->segment, header->e_phnum * sizeof(Elf64_Phdr),
		       header->e_phoff);
}

static int protection_of(const Elf64_Phdr *segment)
{
	return (segment->p_flags & PF_R ? PROT_READ : 0) |
	       (segment->p_flags & PF_W ? PROT_WRITE : 0) |
	       (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

static int check_segment(const Elf64_Phdr *segment, struct graft_error *error)
{
	const uint32_t both = PF_W | PF_X;

	if (segment->p_type == PT_TLS)
		return graft_refuse(error, -EOPNOTSUPP,
				    "has thread-local variables, which a running thread cannot be "
				    "given from outside: do without them");
	if (segment->p_type == PT_GNU_STACK && segment->p_flags & PF_X)
		return graft_refuse(
			error, -EOPNOTSUPP,
			"wants stacks that can be executed: do without nested functions "
			"whose address is taken");
	if (segment->p_type == PT_LOAD && (segment->p_flags & both) == both)
		return graft_refuse(error, -EOPNOTSUPP,
				    "has memory that is writable and executable at once");
	return 0;
}

/* Adds a loaded segment. False: it does not follow the last one on pages of its own, or is too
 * large, or there are too many. */
static bool add_part(struct graft_image *image, const Elf64_Phdr *segment)
{
	const struct graft_part *last = image->count ? &image->part[image->count - 1] : NULL;
	uint64_t begin = segment->p_vaddr & ~(PAGE - 1), end;

	if (segment->p_vaddr > SIZE_MOST || segment->p_memsz > SIZE_MOST ||
	    segment->p_filesz > segment->p_memsz || image->count == GRAFT_PARTS)
		return false;
	end = ALL_PAGES(segment->p_vaddr + segment->p_memsz);
	if (end > SIZE_MOST || begin == end || begin < (last ? last->offset + last->size : 0))
		return false;
	image->part[image->count++] =
		(struct graft_part){begin, end - begin, protection_of(segment)};
	image->size = end;
	return true;
}

static int add_parts(struct graft_image *image, const struct file *file, struct graft_error *error)
{
	int err = 0;

	for (unsigned i = 0; i < file->header.e_phnum && !err; i++) {
		err = check_segment(&file->segment[i], error);
		if (!err && file->segment[i].p_type == PT_LOAD && file->segment[i].p_memsz &&
		    !add_part(image, &file->segment[i]))
			err = refuse_file(error);
	}
	return !err && !image->count ? refuse_file(error) : err;
}

static bool fill(struct graft_image *image, const struct file *file)
{
	bool whole = true;

	for (unsigned i = 0; i < file->header.e_phnum && whole; i++) {
		const Elf64_Phdr *segment = &file->segment[i];

		if (segment->p_type == PT_LOAD && segment->p_memsz)
			whole = read_at(file->fd, image->bytes + segment->p_vaddr,
					segment->p_filesz, segment->p_offset);
	}
	return whole;
}

/* ---- the dynamic section ------------------------------------------------------------------ */

static uint64_t *wanted_by(struct graft_image *image, int64_t tag)
{
	switch (tag) {
	case DT_SYMTAB:
		return &image->symbols.offset;
	case DT_STRTAB:
		return &image->names.offset;
	case DT_STRSZ:
		return &image->names.size;
	case DT_RELA:
		return &image->relocations.offset;
	case DT_RELASZ:
		return &image->relocations.size;
	case DT_JMPREL:
		return &image->calls.offset;
	case DT_PLTRELSZ:
		return &image->calls.size;
	case DT_VERSYM:
		return &image->versions.offset;
	case DT_VERNEED:
		return &image->needed.offset;
	case DT_VERNEEDNUM:
		return &image->needed.size;
	case DT_INIT:
		return &image->init;
	case DT_INIT_ARRAY:
		return &image->constructors.offset;
	case DT_INIT_ARRAYSZ:
		return &image->constructors.size;
	default:
		return NULL;
	}
}

#define DT_RELR_TAG 36 /* DT_RELR of newer elf.h */

static int note_entry(struct graft_image *image, const Elf64_Dyn *entry, struct graft_error *error)
{
	uint64_t *wanted = wanted_by(image, entry->d_tag);

	if (wanted)
		*wanted = entry->d_un.d_val;
	if (entry->d_tag == DT_RELR_TAG || entry->d_tag == DT_REL ||
	    (entry->d_tag == DT_PLTREL && entry->d_un.d_val != DT_RELA))
		return graft_refuse(error, -EOPNOTSUPP,
				    "has packed relocations: link it with "
				    "-Wl,-z,nopack-relative-relocs");
	return 0;
}

static int read_dynamic(struct graft_image *image, const Elf64_Phdr *segment,
			struct graft_error *error)
{
	uint64_t count = segment->p_memsz / sizeof(Elf64_Dyn);
	Elf64_Dyn entry = {.d_tag = DT_NULL};
	int err = 0;

	for (uint64_t i = 0; i < count && i < ENTRIES_MOST && !err; i++) {
		if (segment->p_vaddr > image->size ||
		    !copy(image, segment->p_vaddr + i * sizeof(entry), &entry, sizeof(entry)))
			return refuse_file(error);
		if (entry.d_tag == DT_NULL)
			break;
		err = note_entry(image, &entry, error);
	}
	/* Nothing tells how many symbols and versions there are: their tables may reach to the
	 * image's end. */
	image->symbols.size =
		image->symbols.offset < image->size ? image->size - image->symbols.offset : 0;
	image->versions.size = image->versions.offset && image->versions.offset < image->size
				       ? image->size - image->versions.offset
				       : 0;
	return err;
}

static int find_dynamic(struct graft_image *image, const struct file *file,
			struct graft_error *error)
{
	for (unsigned i = 0; i < file->header.e_phnum; i++)
		if (file->segment[i].p_type == PT_DYNAMIC)
			return read_dynamic(image, &file->segment[i], error);
	return refuse_file(error);
}

int graft_image_read(int fd, struct graft_image *image, struct graft_error *error)
{
	struct file file = {.fd = fd};
	int err;

	*image = (struct graft_image){0};
	if (!read_headers(&file))
		return refuse_file(error);
	err = add_parts(image, &file, error);
	if (err)
		return err;
	image->bytes = calloc(1, image->size);
	image->bound = calloc(1, image->size + GRAFT_BEHIND);
	if (!image->bytes || !image->bound)
		err = graft_refuse(error, -ENOMEM, "cannot be read: memory is short");
	else
		err = fill(image, &file) ? find_dynamic(image, &file, error) : refuse_file(error);
	if (err)
		graft_image_free(image);
	return err;
}

void graft_image_free(struct graft_image *image)
{
	free(image->bytes);
	free(image->bound);
	*image = (struct graft_image){0};
}

/* ---- relocations -------------------------------------------------------------------------- */

/* The name of the version with that number, by the records of what the library needs; NULL: it is
 * not told. */
static const char *needed_version(const struct graft_image *image, unsigned number)
{
	uint64_t at_records = image->needed.offset, name = 0;

	if (image->needed.size && at_records < image->size)
		name = version_needed(image->bytes + at_records, image->size - at_records, number);
	return name ? name_at(image, name) : NULL;
}

static const char *version_of(const struct graft_image *image, uint64_t symbol)
{
	uint16_t number;

	if (!copy_entry(image, &image->versions, symbol, &number, sizeof(number)) ||
	    (number & VERSION_NUMBER) <= VER_NDX_GLOBAL)
		return NULL;
	return needed_version(image, number & VERSION_NUMBER);
}

struct binding {
	struct graft_image *image;
	uint64_t base;
	graft_resolve_fn *resolve;
	void *context;
	struct graft_error *error;
};

static int resolve_other(const struct binding *binding, uint64_t index, const Elf64_Sym *symbol,
			 uint64_t *value)
{
	struct graft_wanted wanted = {.name = name_at(binding->image, symbol->st_name),
				      .version = version_of(binding->image, index),
				      .weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK};
	int err;

	if (!wanted.name)
		return refuse_file(binding->error);
	err = binding->resolve(binding->context, &wanted, value, binding->error);
	if (err == -ENOENT && wanted.weak) {
		*value = 0;
		return 0;
	}
	if (err == -ENOENT)
		return graft_refuse(binding->error, err,
				    "needs %.100s, which neither the program nor its libraries "
				    "export",
				    wanted.name);
	return err;
}

static int resolve(const struct binding *binding, uint64_t index, uint64_t *value)
{
	Elf64_Sym symbol;

	*value = 0;
	if (!index)
		return 0;
	if (!copy_entry(binding->image, &binding->image->symbols, index, &symbol, sizeof(symbol)))
		return refuse_file(binding->error);
	if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS)
		return graft_refuse(binding->error, -EOPNOTSUPP,
				    "uses a thread-local variable, whose place only the program's "
				    "own linker knows");
	if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC && symbol.st_shndx != SHN_UNDEF)
		return graft_refuse(
			binding->error, -EOPNOTSUPP,
			"has an IFUNC, whose resolver would have to run in the program");
	if (symbol.st_shndx == SHN_UNDEF)
		return resolve_other(binding, index, &symbol, value);
	*value = symbol.st_shndx == SHN_ABS ? symbol.st_value : binding->base + symbol.st_value;
	return 0;
}

static int relocate(const struct binding *binding, const Elf64_Rela *relocation)
{
	uint8_t *place = at(binding->image, binding->image->bound, relocation->r_offset, 8);
	uint64_t value = 0, addend = (uint64_t)relocation->r_addend;
	int err = 0;

	switch (ELF64_R_TYPE(relocation->r_info)) {
	case R_X86_64_NONE:
		return 0;
	case R_X86_64_RELATIVE:
		value = binding->base;
		break;
	case R_X86_64_64:
		err = resolve(binding, ELF64_R_SYM(relocation->r_info), &value);
		break;
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
		err = resolve(binding, ELF64_R_SYM(relocation->r_info), &value);
		addend = 0;
		break;
	case R_X86_64_IRELATIVE:
		return graft_refuse(
			binding->error, -EOPNOTSUPP,
			"has an IFUNC, whose resolver would have to run in the program");
	case R_X86_64_DTPMOD64:
	case R_X86_64_DTPOFF64:
	case R_X86_64_TPOFF64:
	case R_X86_64_TLSDESC:
		return graft_refuse(binding->error, -EOPNOTSUPP,
				    "uses a thread-local variable, whose place only the program's "
				    "own linker knows");
	default:
		return graft_refuse(binding->error, -EOPNOTSUPP,
				    "has a relocation of kind %u, which `cc -shared -fPIC` makes "
				    "none of",
				    (unsigned)ELF64_R_TYPE(relocation->r_info));
	}
	if (!err && !place)
		return refuse_file(binding->error);
	value += addend;
	if (!err)
		memcpy(place, &value, sizeof(value));
	return err;
}

static int relocate_all(const struct binding *binding, const struct graft_table *table)
{
	uint64_t count = table->size / sizeof(Elf64_Rela);
	Elf64_Rela relocation;
	int err = 0;

	for (uint64_t i = 0; i < count && !err; i++)
		err = copy_entry(binding->image, table, i, &relocation, sizeof(relocation))
			      ? relocate(binding, &relocation)
			      : refuse_file(binding->error);
	return err;
}

int graft_image_bind(struct graft_image *image, uint64_t base, graft_resolve_fn *resolve,
		     void *context, struct graft_error *error)
{
	const struct binding binding = {image, base, resolve, context, error};
	int err;

	memcpy(image->bound, image->bytes, image->size);
	err = relocate_all(&binding, &image->relocations);
	return err ? err : relocate_all(&binding, &image->calls);
}

/* ---- code --------------------------------------------------------------------------------- */

/* The address, as linked, that a relative relocation writes to `place`. False: there is none. */
static bool relocated_to(const struct graft_image *image, uint64_t place, uint64_t *address)
{
	uint64_t count = image->relocations.size / sizeof(Elf64_Rela);
	Elf64_Rela relocation;

	for (uint64_t i = 0; i < count && copy_entry(image, &image->relocations, i, &relocation,
						     sizeof(relocation));
	     i++) {
		if (relocation.r_offset != place)
			continue;
		*address = (uint64_t)relocation.r_addend;
		return ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE;
	}
	return false;
}

int graft_image_constructors(const struct graft_image *image,
			     int (*each)(void *context, uint64_t address), void *context)
{
	uint64_t address, count = image->constructors.size / sizeof(uint64_t);
	int err = count > CONSTRUCTORS_MOST ? -EINVAL : 0;

	for (uint64_t i = 0; i < count && !err; i++)
		err = relocated_to(image, image->constructors.offset + i * sizeof(uint64_t),
				   &address)
			      ? each(context, address)
			      : -EINVAL;
	return err;
}

/* Do `length` bytes from `address` on lie in one part with all of this protection? */
static bool is_in_part(const struct graft_image *image, uint64_t address, uint64_t length,
		       int protection)
{
	for (unsigned i = 0; i < image->count; i++) {
		const struct graft_part *part = &image->part[i];

		if (part->protection & protection && address >= part->offset &&
		    address - part->offset < part->size &&
		    part->size - (address - part->offset) >= length)
			return true;
	}
	return false;
}

bool graft_image_is_code(const struct graft_image *image, uint64_t address)
{
	return is_in_part(image, address, 1, PROT_EXEC);
}

bool graft_image_is_pointer(const struct graft_image *image, uint64_t address)
{
	return is_in_part(image, address, sizeof(uint64_t), PROT_WRITE);
}
