/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/import.h"

#include "elf/object.h"
#include "session/asking.h"
#include "symbol/dynamic.h"

#include <string.h>

#define RELOCATIONS_MAX 65536 /* of one section, that are looked at at most */

static bool is_linkage(const Elf64_Rela *relocation)
{
	uint32_t type = ELF64_R_TYPE(relocation->r_info);

	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

static const char *find_in(const struct symbol_table *table, const struct symbol_dynamic *symbols,
			   uint64_t slot)
{
	const char *name;
	Elf64_Rela relocation;
	Elf64_Sym symbol;

	for (size_t i = 0; i < table->length / sizeof(relocation) && i < RELOCATIONS_MAX; i++) {
		memcpy(&relocation, table->bytes + i * sizeof(relocation), sizeof(relocation));
		if (relocation.r_offset == slot && is_linkage(&relocation))
			return symbol_dynamic_at(symbols, ELF64_R_SYM(relocation.r_info), &symbol,
						 &name)
				       ? name
				       : NULL;
	}
	return NULL;
}

const char *symbol_import_name(struct symbol_modules *modules, uint64_t slot)
{
	static const char *const sections[] = {".rela.plt", ".rela.dyn"};
	const struct symbol_module *module;
	struct symbol_object *object;
	struct symbol_dynamic symbols;
	struct symbol_table table;
	const char *name = NULL;

	if (SYMBOL_ASK(symbol_modules_session(modules), import_name, modules, slot, &name))
		return name;
	module = symbol_modules_find(modules, slot);
	object = module ? symbol_module_object(modules, module) : NULL;
	if (!object || !symbol_dynamic_find(object, &symbols))
		return NULL;
	for (int i = 0; i < 2 && !name; i++)
		if (symbol_table_find(object, sections[i], &table))
			name = find_in(&table, &symbols, slot - module->bias);
	return name;
}
