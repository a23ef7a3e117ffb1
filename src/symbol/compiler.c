/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/compiler.h"

#include "dwarf/die.h"
#include "dwarf/unit.h"
#include "elf/object.h"
#include "session/asking.h"

#include <string.h>

const char *symbol_compilers(struct symbol_modules *modules, uint64_t pc, size_t *length)
{
	const struct symbol_module *module;
	struct symbol_object *object;
	const char *text;
	uint64_t address;
	Elf_Data *data;

	if (SYMBOL_ASK(symbol_modules_session(modules), compilers, modules, pc, &text, length))
		return text;
	module = symbol_modules_find(modules, pc);
	object = module ? symbol_module_object(modules, module) : NULL;
	data = object ? symbol_object_section(object, ".comment", &address) : NULL;
	if (!data || !data->d_buf || !data->d_size)
		return NULL;
	*length = data->d_size;
	return data->d_buf;
}

const char *symbol_producer(struct symbol_modules *modules, uint64_t pc)
{
	const struct symbol_module *module;
	struct symbol_object *object;
	struct symbol_unit *unit;
	const char *producer;
	Dwarf_Die die;

	if (SYMBOL_ASK(symbol_modules_session(modules), producer, modules, pc, &producer))
		return producer;
	module = symbol_modules_find(modules, pc);
	object = module ? symbol_module_object(modules, module) : NULL;
	unit = object ? symbol_units_find(object, pc - module->bias) : NULL;
	return unit && symbol_unit_root(unit, &die) == 0 ? symbol_die_producer(&die) : NULL;
}

bool symbol_producer_is_gcc(const char *producer)
{
	return strncmp(producer, "GNU ", 4) == 0 && strncmp(producer, "GNU AS", 6) != 0;
}
