/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/bounds.h"

#include "symbol/names.h"
#include "symbol/object.h"

#include <errno.h>
#include <stdlib.h>

int symbol_bounds_find(struct symbol_modules *modules, uint64_t pc, uint64_t *start, uint64_t *end)
{
	const struct symbol_module *module = symbol_modules_find(modules, pc);
	struct symbol_object *object = module ? symbol_module_object(modules, module) : NULL;
	Dwarf_CFI *cfi = object ? symbol_object_eh(object) : NULL;
	Dwarf_Addr low, high;
	Dwarf_Frame *frame;
	bool signal;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc - module->bias - object->eh_bias, &frame))
		return -ENOENT;
	dwarf_frame_info(frame, &low, &high, &signal);
	free(frame);
	*start = low + object->eh_bias + module->bias;
	*end = high + object->eh_bias + module->bias;
	return pc >= *start && pc < *end ? 0 : -ENOENT;
}

const char *symbol_bounds_name(struct symbol_modules *modules, uint64_t pc)
{
	const struct symbol_module *module = symbol_modules_find(modules, pc);
	struct symbol_object *object = module ? symbol_module_object(modules, module) : NULL;
	const struct symbol_names *names = object ? symbol_object_names(object) : NULL;
	const struct symbol_name *name =
		names ? symbol_names_find(names, SYMBOL_NAME_CODE, pc - module->bias) : NULL;

	return name ? name->name : NULL;
}
