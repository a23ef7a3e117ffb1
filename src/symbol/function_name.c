/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/function_name.h"

#include "elf/names.h"
#include "elf/object.h"
#include "session/asking.h"
#include "symbol/variant.h"

static const struct symbol_name *find_name(struct symbol_modules *modules,
					   const struct symbol_module *module, uint64_t pc)
{
	struct symbol_object *object = module ? symbol_module_object(modules, module) : NULL;
	const struct symbol_names *names = object ? symbol_object_names(object) : NULL;

	return names ? symbol_names_find(names, SYMBOL_NAME_CODE, pc - module->bias) : NULL;
}

const char *symbol_function_name(struct symbol_modules *modules, uint64_t pc)
{
	const struct symbol_module *module;
	const struct symbol_name *name;
	const char *answer;

	if (SYMBOL_ASK(symbol_modules_session(modules), function_name, modules, pc, &answer))
		return answer;
	module = symbol_modules_find(modules, pc);
	name = find_name(modules, module, pc);
	if (!name && module && symbol_variants_learn(modules, module))
		name = find_name(modules, module, pc);
	return name ? name->name : NULL;
}
