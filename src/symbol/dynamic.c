/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dynamic.h"

#include <string.h>

/* Entries of one table that are looked at, at most. */
#define SYMBOLS_MAX (1u << 20)

bool symbol_table_find(struct symbol_object *object, const char *section,
		       struct symbol_table *table)
{
	uint64_t address;
	const Elf_Data *data = symbol_object_section(object, section, &address);

	if (!data || !data->d_buf)
		return false;
	*table = (struct symbol_table){data->d_buf, data->d_size};
	return true;
}

bool symbol_dynamic_find(struct symbol_object *object, struct symbol_dynamic *dynamic)
{
	return symbol_table_find(object, ".dynsym", &dynamic->symbol) &&
	       symbol_table_find(object, ".dynstr", &dynamic->text);
}

bool symbol_dynamic_at(const struct symbol_dynamic *dynamic, uint64_t index, Elf64_Sym *symbol,
		       const char **name)
{
	if (index >= dynamic->symbol.length / sizeof(*symbol))
		return false;
	memcpy(symbol, dynamic->symbol.bytes + index * sizeof(*symbol), sizeof(*symbol));
	*name = (const char *)dynamic->text.bytes + symbol->st_name;
	return symbol->st_name < dynamic->text.length &&
	       memchr(*name, 0, dynamic->text.length - symbol->st_name);
}

/* Was the library linked with -Bsymbolic, so that it uses its own variables? */
static bool is_bound_to_itself(struct symbol_object *object)
{
	struct symbol_table table;
	Elf64_Dyn entry;

	if (!symbol_table_find(object, ".dynamic", &table))
		return true;
	for (size_t i = 0; i < table.length / sizeof(entry); i++) {
		memcpy(&entry, table.bytes + i * sizeof(entry), sizeof(entry));
		if (entry.d_tag == DT_SYMBOLIC ||
		    (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_SYMBOLIC)))
			return true;
	}
	return false;
}

static bool is_variable(const Elf64_Sym *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT &&
	       ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS;
}

static bool find_variable(const struct symbol_dynamic *dynamic, const char *wanted, uint64_t *at)
{
	const char *name;
	Elf64_Sym symbol;

	for (uint64_t i = 1; i < SYMBOLS_MAX && symbol_dynamic_at(dynamic, i, &symbol, &name); i++)
		if (is_variable(&symbol) && strcmp(name, wanted) == 0) {
			*at = symbol.st_value;
			return true;
		}
	return false;
}

bool symbol_dynamic_bound(struct symbol_object *library, uint64_t address,
			  struct symbol_object *program, uint64_t *bound)
{
	struct symbol_dynamic own, others;
	const char *name;
	Elf64_Sym symbol;

	if (!symbol_dynamic_find(library, &own) || !symbol_dynamic_find(program, &others) ||
	    is_bound_to_itself(library))
		return false;
	/* A variable can have several names: a library's `environ` is its `__environ`. */
	for (uint64_t i = 1; i < SYMBOLS_MAX && symbol_dynamic_at(&own, i, &symbol, &name); i++)
		if (symbol.st_value == address && is_variable(&symbol) &&
		    find_variable(&others, name, bound))
			return true;
	return false;
}
