/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/variant.h"

#include "base/clock.h"

#include "elf/names.h"
#include "elf/object.h"
#include "symbol/bounds.h"
#include "symbol/dynamic.h"

#include <elf.h>
#include <string.h>
#include <time.h>

#define CHOOSERS_MAX 256
#define LEARNT_MAX 256
#define RELOCATIONS_MAX 65536 /* of one section, that are looked at at most */
#define AGAIN 1000000000u     /* ns between two looks */

struct chooser {
	uint64_t address;
	const char *name;
};

struct learning {
	struct symbol_modules *modules;
	const struct symbol_module *module; /* the module whose functions are named */
	struct symbol_object *object;
	struct chooser chooser[CHOOSERS_MAX];
	unsigned choosers;
	struct symbol_name learnt[LEARNT_MAX];
	unsigned count;
};

static void find_choosers(struct learning *learning)
{
	struct symbol_dynamic symbols;
	const char *name;
	Elf64_Sym symbol;

	if (!symbol_dynamic_find(learning->object, &symbols))
		return;
	for (uint64_t i = 1; symbol_dynamic_at(&symbols, i, &symbol, &name); i++)
		if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC && symbol.st_value &&
		    learning->choosers < CHOOSERS_MAX)
			learning->chooser[learning->choosers++] =
				(struct chooser){symbol.st_value, name};
}

/* The function's name: that of its chooser, found by address, or its own. */
static const char *chosen_by(const struct learning *learning, uint64_t address, const char *name)
{
	for (unsigned i = 0; i < learning->choosers; i++)
		if (name ? strcmp(learning->chooser[i].name, name) == 0
			 : learning->chooser[i].address == address)
			return learning->chooser[i].name;
	return NULL;
}

static void learn(struct learning *learning, uint64_t address, const char *name)
{
	const struct symbol_names *names = symbol_object_names(learning->object);
	uint64_t start, end, own = address - learning->module->bias;

	if (!names || learning->count == LEARNT_MAX || address < learning->module->start ||
	    address >= learning->module->end ||
	    symbol_bounds_whole(learning->modules, address, &start, &end) || start != address ||
	    symbol_names_find(names, SYMBOL_NAME_CODE, own))
		return;
	for (unsigned i = 0; i < learning->count; i++)
		if (learning->learnt[i].address == own)
			return;
	learning->learnt[learning->count++] = (struct symbol_name){
		.address = own, .size = end - start, .name = name, .kind = SYMBOL_NAME_CODE};
}

static void look_at(struct learning *learning, const struct symbol_module *from,
		    const struct symbol_dynamic *symbols, const Elf64_Rela *relocation)
{
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	const char *name = NULL, *text;
	Elf64_Sym symbol;
	uint64_t address;

	if (type == R_X86_64_IRELATIVE && from == learning->module)
		name = chosen_by(learning, (uint64_t)relocation->r_addend, NULL);
	else if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
		 symbol_dynamic_at(symbols, ELF64_R_SYM(relocation->r_info), &symbol, &text))
		name = chosen_by(learning, 0, text);
	if (name &&
	    !symbol_memory_read(symbol_modules_memory(learning->modules),
				from->bias + relocation->r_offset, &address, sizeof(address)))
		learn(learning, address, name);
}

static void look_through(struct learning *learning, const struct symbol_module *from,
			 struct symbol_object *object)
{
	static const char *const sections[] = {".rela.plt", ".rela.dyn"};
	struct symbol_dynamic symbols;
	struct symbol_table table;
	Elf64_Rela relocation;

	if (!symbol_dynamic_find(object, &symbols))
		return;
	for (int i = 0; i < 2; i++) {
		if (!symbol_table_find(object, sections[i], &table))
			continue;
		for (size_t j = 0; j < table.length / sizeof(relocation) && j < RELOCATIONS_MAX;
		     j++) {
			memcpy(&relocation, table.bytes + j * sizeof(relocation),
			       sizeof(relocation));
			look_at(learning, from, &symbols, &relocation);
		}
	}
}

bool symbol_variants_learn(struct symbol_modules *modules, const struct symbol_module *module)
{
	/* static since it is large; only one thread comes here (session.h) */
	static struct learning learning;
	struct symbol_object *object = symbol_module_object(modules, module);
	const struct symbol_module *from;

	if (!object || !symbol_modules_pid(modules) || clock_now() - object->variants_tried < AGAIN)
		return false;
	object->variants_tried = clock_now();
	learning = (struct learning){.modules = modules, .module = module, .object = object};
	find_choosers(&learning);
	/* Opening other modules takes time, and those whose code was met are open already. */
	for (size_t i = 0; learning.choosers && (from = symbol_modules_at(modules, i)); i++)
		if (!from->gone && from->object)
			look_through(&learning, from, from->object);
	return symbol_names_add(object, learning.learnt, learning.count);
}
