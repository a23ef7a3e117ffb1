/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/compiler.h"

#include "symbol/die.h"
#include "symbol/object.h"
#include "symbol/unit.h"

#include <string.h>

const char *symbol_compilers(struct symbol_modules *modules, uint64_t pc, size_t *length)
{
	const struct symbol_module *module = symbol_modules_find(modules, pc);
	struct symbol_object *object = module ? symbol_module_object(modules, module) : NULL;
	uint64_t address;
	Elf_Data *data = object ? symbol_object_section(object, ".comment", &address) : NULL;

	if (!data || !data->d_buf || !data->d_size)
		return NULL;
	*length = data->d_size;
	return data->d_buf;
}

const char *symbol_producer(struct symbol_modules *modules, uint64_t pc)
{
	const struct symbol_module *module = symbol_modules_find(modules, pc);
	struct symbol_object *object = module ? symbol_module_object(modules, module) : NULL;
	struct symbol_unit *unit = object ? symbol_units_find(object, pc - module->bias) : NULL;
	Dwarf_Die die;

	return unit && symbol_unit_root(unit, &die) == 0 ? symbol_die_producer(&die) : NULL;
}

bool symbol_producer_is_gcc(const char *producer)
{
	return strncmp(producer, "GNU ", 4) == 0 && strncmp(producer, "GNU AS", 6) != 0;
}
