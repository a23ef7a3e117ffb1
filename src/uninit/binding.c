/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/binding.h"

#include <elf.h>
#include <string.h>

#define MODULES_MOST 64
#define DYNAMIC_MOST 96
#define CHAIN_MOST 64

/* <link.h> */
struct link_map_head {
	uint64_t base, name, dynamic, next, previous;
};

struct tables {
	uint64_t base, relocations, symbols, strings, hash;
};

static bool get(const struct binding_memory *memory, uint64_t address, void *to, size_t length)
{
	return address && memory->read(memory->context, address, to, length) == 0;
}

/* glibc relocates most of these where they stand. */
static uint64_t relocated(uint64_t value, uint64_t base)
{
	return value < base ? value + base : value;
}

static void read_tables(const struct binding_memory *memory, const struct link_map_head *module,
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

static bool read_name(const struct binding_memory *memory, uint64_t address, char *name)
{
	for (unsigned i = 0; i < BINDING_NAME; i++)
		if (!get(memory, address + i, &name[i], 1))
			return false;
		else if (!name[i])
			return true;
	return false;
}

static bool find_name(const struct binding_memory *memory, const struct tables *tables,
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

static bool is_wanted(const struct binding_memory *memory, const struct tables *tables,
		      uint32_t index, struct binding *binding)
{
	char name[BINDING_NAME];
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

static bool look_up(const struct binding_memory *memory, const struct tables *tables,
		    struct binding *binding)
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

bool binding_find(const struct binding_memory *memory, uint64_t link_map, uint64_t index,
		  struct binding *binding)
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
	for (unsigned i = 0; i < MODULES_MOST; i++) {
		read_tables(memory, &module, &tables);
		if (look_up(memory, &tables, binding))
			return true;
		if (!module.next || !get(memory, module.next, &module, sizeof(module)))
			return false;
	}
	return false;
}
