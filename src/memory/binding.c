/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/binding.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define MODULES_MOST 64
#define DYNAMIC_MOST 96
#define CHAIN_MOST 64
#define HEADERS_MOST 64
#define IMPORTS_MOST 65536

/* <link.h> */
struct link_map_head {
	uint64_t base, name, dynamic, next, previous;
};

struct tables {
	uint64_t base, relocations, symbols, strings, hash;
};

static bool get(const struct symbol_memory *memory, uint64_t address, void *to, size_t length)
{
	return address && symbol_memory_read(memory, address, to, length) == 0;
}

/* glibc relocates most of these where they stand. */
static uint64_t relocated(uint64_t value, uint64_t base)
{
	return value < base ? value + base : value;
}

static void read_tables(const struct symbol_memory *memory, const struct link_map_head *module,
			struct tables *tables)
{
	*tables = (struct tables){.base = module->base};
	for (unsigned i = 0; i < DYNAMIC_MOST; i++) {
		Elf64_Dyn entry;

		if (!get(memory, module->dynamic + i * sizeof(entry), &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return;
		entry.d_un.d_ptr = relocated(entry.d_un.d_ptr, module->base);
		if (entry.d_tag == DT_JMPREL)
			tables->relocations = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_SYMTAB)
			tables->symbols = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRTAB)
			tables->strings = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_GNU_HASH)
			tables->hash = entry.d_un.d_ptr;
	}
}

static bool read_name(const struct symbol_memory *memory, uint64_t address, char *name)
{
	for (unsigned i = 0; i < SYMBOL_BINDING_NAME; i++)
		if (!get(memory, address + i, &name[i], 1))
			return false;
		else if (!name[i])
			return true;
	return false;
}

static bool find_name(const struct symbol_memory *memory, const struct tables *tables,
		      uint64_t index, char *name)
{
	Elf64_Rela relocation;
	Elf64_Sym symbol;

	return tables->relocations && tables->symbols && tables->strings &&
	       get(memory, tables->relocations + index * sizeof(relocation), &relocation,
		   sizeof(relocation)) &&
	       get(memory, tables->symbols + ELF64_R_SYM(relocation.r_info) * sizeof(Elf64_Sym),
		   &symbol, sizeof(symbol)) &&
	       read_name(memory, tables->strings + symbol.st_name, name);
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (uint8_t)*name++;
	return hash;
}

static bool is_wanted(const struct symbol_memory *memory, const struct tables *tables,
		      uint32_t index, struct symbol_binding *binding)
{
	char name[SYMBOL_BINDING_NAME];
	Elf64_Sym symbol;
	unsigned type;

	if (!get(memory, tables->symbols + index * sizeof(symbol), &symbol, sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF ||
	    !read_name(memory, tables->strings + symbol.st_name, name) ||
	    strcmp(name, binding->name) != 0)
		return false;
	type = ELF64_ST_TYPE(symbol.st_info);
	if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return false;
	binding->address = tables->base + symbol.st_value;
	binding->indirect = type == STT_GNU_IFUNC;
	return true;
}

static bool look_up(const struct symbol_memory *memory, const struct tables *tables,
		    struct symbol_binding *binding)
{
	uint32_t header[4], hash = hash_of(binding->name), index, chained;
	uint64_t buckets;

	if (!tables->symbols || !tables->strings ||
	    !get(memory, tables->hash, header, sizeof(header)) || !header[0])
		return false;
	buckets = tables->hash + sizeof(header) + 8ull * header[2];
	if (!get(memory, buckets + 4ull * (hash % header[0]), &index, sizeof(index)) ||
	    index < header[1])
		return false;
	for (unsigned i = 0; i < CHAIN_MOST; i++, index++) {
		uint64_t at = buckets + 4ull * header[0] + 4ull * (index - header[1]);

		if (!get(memory, at, &chained, sizeof(chained)))
			return false;
		if ((chained | 1) == (hash | 1) && is_wanted(memory, tables, index, binding))
			return true;
		if (chained & 1)
			return false;
	}
	return false;
}

/* `module`: the first. */
static bool look_through(const struct symbol_memory *memory, struct link_map_head *module,
			 struct symbol_binding *binding)
{
	struct tables tables;

	for (unsigned i = 0; i < MODULES_MOST; i++) {
		read_tables(memory, module, &tables);
		if (look_up(memory, &tables, binding))
			return true;
		if (!module->next || !get(memory, module->next, module, sizeof(*module)))
			return false;
	}
	return false;
}

bool symbol_binding_of_call(const struct symbol_memory *memory, uint64_t link_map, uint64_t index,
			    struct symbol_binding *binding)
{
	struct link_map_head module;
	struct tables tables;

	if (!get(memory, link_map, &module, sizeof(module)))
		return false;
	read_tables(memory, &module, &tables);
	if (!find_name(memory, &tables, index, binding->name))
		return false;
	for (unsigned i = 0; i < MODULES_MOST && module.previous; i++)
		if (!get(memory, module.previous, &module, sizeof(module)))
			return false;
	return look_through(memory, &module, binding);
}

bool symbol_binding_of_name(const struct symbol_memory *memory, uint64_t link_map, const char *name,
			    struct symbol_binding *binding)
{
	struct link_map_head module;

	snprintf(binding->name, sizeof(binding->name), "%s", name);
	return get(memory, link_map, &module, sizeof(module)) &&
	       look_through(memory, &module, binding);
}

/* ---- what a module leaves to others --------------------------------------------------------- */

/*
 * How many symbols there are to look at. Those that are hashed come last, and are all defined. In a
 * module that defines none the table of hashes says nothing, and the names of the symbols follow
 * them, as the GNU linker has it.
 */
static uint64_t count_imports(const struct symbol_memory *memory, const struct tables *tables)
{
	uint32_t header[4];
	uint64_t count;

	if (!tables->symbols || !tables->strings ||
	    !get(memory, tables->hash, header, sizeof(header)))
		return 0;
	count = header[1];
	if (count <= 1 && tables->strings > tables->symbols)
		count = (tables->strings - tables->symbols) / sizeof(Elf64_Sym);
	return count < IMPORTS_MOST ? count : IMPORTS_MOST;
}

/* In one piece where that is possible. */
static bool read_name_whole(const struct symbol_memory *memory, uint64_t address, char *name)
{
	if (!get(memory, address, name, SYMBOL_BINDING_NAME))
		return read_name(memory, address, name);
	return memchr(name, 0, SYMBOL_BINDING_NAME);
}

bool symbol_imports(const struct symbol_memory *memory, uint64_t link_map,
		    bool (*tell)(void *context, const char *name), void *context)
{
	struct link_map_head module;
	struct tables tables;
	uint64_t count;

	if (!get(memory, link_map, &module, sizeof(module)))
		return false;
	read_tables(memory, &module, &tables);
	count = count_imports(memory, &tables);
	for (uint64_t i = 1; i < count; i++) {
		char name[SYMBOL_BINDING_NAME];
		Elf64_Sym symbol;

		if (!get(memory, tables.symbols + i * sizeof(symbol), &symbol, sizeof(symbol)))
			return false;
		if (symbol.st_shndx == SHN_UNDEF &&
		    read_name_whole(memory, tables.strings + symbol.st_name, name) &&
		    !tell(context, name))
			return true;
	}
	return count > 0;
}

/* ---- the first link map --------------------------------------------------------------------- */

/* Where a header says that its segment is, the bias included. The headers are a segment's own, by
 * PT_PHDR, or the program is where it was linked. */
static uint64_t find_dynamic(const struct symbol_memory *memory, uint64_t headers, uint64_t count)
{
	uint64_t dynamic = 0, bias = 0;

	for (uint64_t i = 0; i < count && i < HEADERS_MOST; i++) {
		Elf64_Phdr header;

		if (!get(memory, headers + i * sizeof(header), &header, sizeof(header)))
			return 0;
		if (header.p_type == PT_PHDR)
			bias = headers - header.p_vaddr;
		else if (header.p_type == PT_DYNAMIC)
			dynamic = header.p_vaddr;
	}
	return dynamic ? dynamic + bias : 0;
}

uint64_t symbol_link_map_next(const struct symbol_memory *memory, uint64_t link_map,
			      uint64_t *dynamic)
{
	struct link_map_head module;

	*dynamic = 0;
	if (!get(memory, link_map, &module, sizeof(module)))
		return 0;
	*dynamic = module.dynamic;
	return module.next;
}

uint64_t symbol_link_map(const struct symbol_memory *memory, uint64_t headers, uint64_t count)
{
	uint64_t dynamic = find_dynamic(memory, headers, count);
	struct r_debug record;

	for (unsigned i = 0; dynamic && i < DYNAMIC_MOST; i++) {
		Elf64_Dyn entry;

		if (!get(memory, dynamic + i * sizeof(entry), &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return 0;
		if (entry.d_tag == DT_DEBUG)
			return get(memory, entry.d_un.d_ptr, &record, sizeof(record)) &&
					       record.r_state == RT_CONSISTENT
				       ? (uint64_t)record.r_map
				       : 0;
	}
	return 0;
}
