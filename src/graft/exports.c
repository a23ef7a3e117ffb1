/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/exports.h"

#include "graft/version.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MOST (16ull << 20) /* bytes of one table that are read */
#define HEADERS_MOST 64
#define ENTRIES_MOST 256 /* of a dynamic section */

/* A copy of one table of a module. */
struct table {
	uint8_t *bytes;
	uint64_t length; /* 0: there is none */
};

enum { SYMBOLS, NAMES, VERSIONS, DEFINED, NEEDED, RELOCATIONS, CALLS, TABLES };

struct exporter {
	const struct symbol_module *module;
	struct table table[TABLES];
};

struct graft_exports {
	struct symbol_modules *modules;
	struct exporter *exporter;
	size_t count;
};

/* ---- tables, as they are in memory ----------------------------------------------------------- */

/* Where the tables of a module begin in the process, and their lengths in bytes. 0: there is none,
 * or its length is not told. */
struct places {
	uint64_t address[TABLES], length[TABLES];
	uint64_t
		hash[2]; /* of DT_GNU_HASH and DT_HASH, not read: others may end where they begin */
};

/* Which entry of a dynamic section (elf(5)) tells a table's address or its length. */
struct place_tag {
	int64_t tag;
	int table;
	bool is_length;
};

static const struct place_tag tags[] = {
	{DT_SYMTAB, SYMBOLS, false},   {DT_STRTAB, NAMES, false},      {DT_STRSZ, NAMES, true},
	{DT_VERSYM, VERSIONS, false},  {DT_VERDEF, DEFINED, false},    {DT_VERNEED, NEEDED, false},
	{DT_RELA, RELOCATIONS, false}, {DT_RELASZ, RELOCATIONS, true}, {DT_JMPREL, CALLS, false},
	{DT_PLTRELSZ, CALLS, true},
};

/* The address in the process of what the dynamic section tells: glibc writes such addresses over
 * those of the file, other linkers leave the file's there. */
static uint64_t in_process(const struct symbol_module *module, uint64_t address)
{
	return address >= module->start && address < module->end ? address : address + module->bias;
}

static void note_entry(struct places *places, const struct symbol_module *module,
		       const Elf64_Dyn *entry)
{
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		if (tags[i].tag != entry->d_tag)
			continue;
		if (tags[i].is_length)
			places->length[tags[i].table] = entry->d_un.d_val;
		else
			places->address[tags[i].table] = in_process(module, entry->d_un.d_ptr);
	}
	if (entry->d_tag == DT_HASH || entry->d_tag == DT_GNU_HASH)
		places->hash[entry->d_tag == DT_HASH] = in_process(module, entry->d_un.d_ptr);
}

/* The length of a table that tells none, in bytes: it reaches to the next table or the module's end
 * at most. */
static uint64_t length_up_to_next(const struct places *places, const struct symbol_module *module,
				  uint64_t begin)
{
	uint64_t end = module->end;

	for (int i = 0; i < TABLES; i++)
		if (places->address[i] > begin && places->address[i] < end)
			end = places->address[i];
	for (int i = 0; i < 2; i++)
		if (places->hash[i] > begin && places->hash[i] < end)
			end = places->hash[i];
	return end > begin ? end - begin : 0;
}

static bool read_dynamic(const struct symbol_memory *memory, const struct symbol_module *module,
			 uint64_t address, struct places *places)
{
	Elf64_Dyn entry;

	for (unsigned i = 0; i < ENTRIES_MOST; i++) {
		if (symbol_memory_read(memory, address + i * sizeof(entry), &entry, sizeof(entry)))
			return false;
		if (entry.d_tag == DT_NULL)
			return true;
		note_entry(places, module, &entry);
	}
	return false;
}

static bool find_places(const struct symbol_memory *memory, const struct symbol_module *module,
			struct places *places)
{
	Elf64_Phdr segment;
	Elf64_Ehdr header;

	if (symbol_memory_read(memory, module->start, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_phentsize != sizeof(segment) ||
	    header.e_phnum > HEADERS_MOST)
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		if (symbol_memory_read(memory, module->start + header.e_phoff + i * sizeof(segment),
				       &segment, sizeof(segment)))
			return false;
		if (segment.p_type == PT_DYNAMIC)
			return read_dynamic(memory, module, module->bias + segment.p_vaddr, places);
	}
	return false;
}

/* A table that cannot be read as a whole stays empty. */
static void read_table(const struct symbol_memory *memory, uint64_t address, uint64_t length,
		       struct table *table)
{
	if (!address || !length || length > TABLE_MOST)
		return;
	table->bytes = malloc(length);
	if (table->bytes && !symbol_memory_read(memory, address, table->bytes, length))
		table->length = length;
}

static bool read_exporter(struct symbol_modules *modules, const struct symbol_module *module,
			  struct exporter *exporter)
{
	const struct symbol_memory *memory = symbol_modules_memory(modules);
	struct places places = {0};

	*exporter = (struct exporter){.module = module};
	if (module->gone || !find_places(memory, module, &places))
		return false;
	for (int i = 0; i < TABLES; i++) {
		uint64_t length = places.length[i];

		if (!length && places.address[i])
			length = length_up_to_next(&places, module, places.address[i]);
		read_table(memory, places.address[i], length, &exporter->table[i]);
	}
	return true;
}

static bool copy(const struct table *table, uint64_t offset, void *to, size_t length)
{
	if (offset > table->length || length > table->length - offset)
		return false;
	memcpy(to, table->bytes + offset, length);
	return true;
}

static const char *name_at(const struct exporter *exporter, uint64_t offset)
{
	const struct table *names = &exporter->table[NAMES];

	if (offset >= names->length || !memchr(names->bytes + offset, 0, names->length - offset))
		return NULL;
	return (const char *)names->bytes + offset;
}

/* ---- versions ------------------------------------------------------------------------------ */

static const char *defined_version(const struct exporter *exporter, unsigned number)
{
	uint64_t offset = 0;
	Elf64_Verdef definition;
	Elf64_Verdaux first;

	for (unsigned i = 0; i < VERSION_RECORDS_MOST && copy(&exporter->table[DEFINED], offset,
							      &definition, sizeof(definition));
	     i++, offset += definition.vd_next) {
		if ((definition.vd_ndx & VERSION_NUMBER) == number &&
		    copy(&exporter->table[DEFINED], offset + definition.vd_aux, &first,
			 sizeof(first)))
			return name_at(exporter, first.vda_name);
		if (!definition.vd_next)
			break;
	}
	return NULL;
}

/* The version of that number among those that the module needs of others: a program's own copy of a
 * library's variable has such a one. */
static const char *needed_version(const struct exporter *exporter, unsigned number)
{
	const struct table *needed = &exporter->table[NEEDED];
	uint64_t name = version_needed(needed->bytes, needed->length, number);

	return name ? name_at(exporter, name) : NULL;
}

/* Does the symbol have the version that is wanted, or none? Where no version is wanted, only the
 * default one counts, which is the newest (its number lacks the bit 0x8000, "hidden"). */
static bool is_version(const struct exporter *exporter, uint64_t index, const char *wanted)
{
	const char *version;
	uint16_t number;

	if (!copy(&exporter->table[VERSIONS], index * sizeof(number), &number, sizeof(number)))
		return true;
	if ((number & VERSION_NUMBER) == VER_NDX_LOCAL)
		return false;
	if (!wanted)
		return !(number & 0x8000);
	if ((number & VERSION_NUMBER) == VER_NDX_GLOBAL)
		return true;
	version = defined_version(exporter, number & VERSION_NUMBER);
	if (!version)
		version = needed_version(exporter, number & VERSION_NUMBER);
	return version && !strcmp(version, wanted);
}

/* ---- symbols ------------------------------------------------------------------------------- */

static bool is_exported(const Elf64_Sym *symbol)
{
	unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);

	return ELF64_ST_BIND(symbol->st_info) != STB_LOCAL && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_shndx != SHN_ABS &&
	       (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static bool find(const struct exporter *exporter, const struct graft_wanted *wanted,
		 Elf64_Sym *symbol)
{
	for (uint64_t i = 1;
	     copy(&exporter->table[SYMBOLS], i * sizeof(*symbol), symbol, sizeof(*symbol)); i++) {
		const char *name = is_exported(symbol) ? name_at(exporter, symbol->st_name) : NULL;

		if (name && !strcmp(name, wanted->name) && is_version(exporter, i, wanted->version))
			return true;
	}
	return false;
}

/* Finds the function that the IFUNC's resolver at `resolver` has chosen, by the word in which the
 * linker of the process has noted it: a module that calls an IFUNC of its own has such a word. */
static bool find_chosen(struct symbol_modules *modules, const struct exporter *exporter,
			uint64_t resolver, uint64_t *address)
{
	const uint64_t bias = exporter->module->bias;
	struct symbol_mapping mapping;
	Elf64_Rela relocation;

	for (int i = RELOCATIONS; i <= CALLS; i++)
		for (uint64_t at = 0;
		     copy(&exporter->table[i], at, &relocation, sizeof(relocation));
		     at += sizeof(relocation))
			if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_IRELATIVE &&
			    (uint64_t)relocation.r_addend == resolver &&
			    !symbol_memory_read(symbol_modules_memory(modules),
						bias + relocation.r_offset, address,
						sizeof(*address)) &&
			    symbol_modules_find(modules, *address) == exporter->module &&
			    symbol_modules_mapping(modules, *address, &mapping) &&
			    mapping.executable)
				return true;
	return false;
}

static int tell(struct symbol_modules *modules, const struct exporter *exporter,
		const struct graft_wanted *wanted, const Elf64_Sym *symbol, uint64_t *address,
		struct graft_error *error)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	*address = exporter->module->bias + symbol->st_value;
	if (type == STT_TLS)
		return graft_refuse(error, -EOPNOTSUPP,
				    "uses %.100s, a thread-local variable, whose place only the "
				    "program's own linker knows",
				    wanted->name);
	if (type == STT_GNU_IFUNC && !find_chosen(modules, exporter, symbol->st_value, address))
		return graft_refuse(error, -EOPNOTSUPP,
				    "calls %.100s, an IFUNC, and it cannot be told from outside "
				    "which function was chosen for it",
				    wanted->name);
	return 0;
}

/* Is this a function of exception handling? Its unwinder would not get through frames of the fix,
 * whose unwind information the process does not know of. */
static bool unwinds(const char *name)
{
	return !strncmp(name, "_Unwind_", 8) || !strncmp(name, "__gxx_personality", 17) ||
	       !strncmp(name, "__gcc_personality", 17);
}

int graft_exports_find(void *context, const struct graft_wanted *wanted, uint64_t *address,
		       struct graft_error *error)
{
	const struct graft_exports *exports = context;
	Elf64_Sym symbol;

	if (unwinds(wanted->name))
		return graft_refuse(error, -EOPNOTSUPP,
				    "uses exceptions, which the process cannot lead through code "
				    "that its own linker has not loaded");
	for (size_t i = 0; i < exports->count; i++)
		if (find(&exports->exporter[i], wanted, &symbol))
			return tell(exports->modules, &exports->exporter[i], wanted, &symbol,
				    address, error);
	return -ENOENT;
}

/* The program comes first, since its definitions take precedence over those of its libraries. */
struct graft_exports *graft_exports_read(struct symbol_modules *modules)
{
	struct graft_exports *exports = calloc(1, sizeof(*exports));
	const struct symbol_module *module;
	size_t count = 0;

	while (symbol_modules_at(modules, count))
		count++;
	if (exports)
		exports->exporter = calloc(count + 1, sizeof(*exports->exporter));
	if (!exports || !exports->exporter) {
		free(exports);
		return NULL;
	}
	exports->modules = modules;
	for (int libraries = 0; libraries < 2; libraries++)
		for (size_t i = 0;
		     (module = symbol_modules_at(modules, i)) && exports->count < count; i++)
			if (symbol_modules_is_main(modules, module) == !libraries &&
			    module->path[0] == '/')
				exports->count += read_exporter(modules, module,
								&exports->exporter[exports->count]);
	return exports;
}

void graft_exports_free(struct graft_exports *exports)
{
	for (size_t i = 0; i < exports->count; i++)
		for (int j = 0; j < TABLES; j++)
			free(exports->exporter[i].table[j].bytes);
	free(exports->exporter);
	free(exports);
}
