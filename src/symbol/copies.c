/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/copies.h"

#include "dwarf/die.h"
#include "elf/names.h"
#include "elf/object.h"
#include "session/asking.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct walk {
	const char *name;
	struct symbol_copies *copies;
	const char *function; /* function around the entries that are looked at */
};

static void note_inlined(struct walk *walk)
{
	if (!walk->copies->inlined++)
		snprintf(walk->copies->inlined_in, sizeof(walk->copies->inlined_in), "%s",
			 walk->function ? walk->function : "?");
}

static void walk_children(struct walk *walk, Dwarf_Die *parent, int depth)
{
	const char *function = walk->function;
	Dwarf_Die die;
	int more;

	if (depth > SYMBOL_DIE_DEPTH)
		return;
	for (more = dwarf_child(parent, &die); more == 0; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);
		const char *name;

		/* An abstract instance has no code of its own: functions inlined into it are
		 * counted where it was inlined in turn. */
		if (tag == DW_TAG_subprogram && !dwarf_hasattr(&die, DW_AT_low_pc) &&
		    !dwarf_hasattr(&die, DW_AT_ranges))
			continue;
		if (tag == DW_TAG_subprogram)
			walk->function = symbol_die_name(&die);
		if (tag == DW_TAG_inlined_subroutine && (name = symbol_die_name(&die)) &&
		    strcmp(name, walk->name) == 0)
			note_inlined(walk);
		walk_children(walk, &die, depth + 1);
		walk->function = function;
	}
}

static void find_inlined(Dwarf *dwarf, const char *name, struct symbol_copies *copies)
{
	struct walk walk = {.name = name, .copies = copies};
	Dwarf_CU *unit = NULL, *next;
	Dwarf_Die die;

	while (dwarf_get_units(dwarf, unit, &next, NULL, NULL, &die, NULL) == 0) {
		walk_children(&walk, &die, 0);
		unit = next;
	}
}

/* Has the symbol GCC's name for a variant with code or parameters of its own? */
static bool is_specialised(const char *symbol, const char *name)
{
	size_t length = strlen(name);
	const char *suffix = symbol + length;

	return strncmp(symbol, name, length) == 0 && *suffix == '.' &&
	       (strstr(suffix, ".constprop") || strstr(suffix, ".isra") || strstr(suffix, ".part"));
}

static void find_specialised(const struct symbol_names *names, const char *name,
			     struct symbol_copies *copies)
{
	for (size_t i = names->first[SYMBOL_NAME_CODE]; i < names->first[SYMBOL_NAME_CODE + 1]; i++)
		if (is_specialised(names->name[i].name, name) && !copies->specialised++)
			snprintf(copies->specialised_name, sizeof(copies->specialised_name), "%s",
				 names->name[i].name);
}

static bool is_indirect(Dwfl_Module *module, const char *name)
{
	int count = dwfl_module_getsymtab(module);

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *found =
			dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);

		if (found && GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC &&
		    strcmp(found, name) == 0)
			return true;
	}
	return false;
}

int symbol_copies_find(struct symbol_modules *modules, const struct symbol_module *module,
		       const char *name, struct symbol_copies *copies)
{
	const struct symbol_names *names;
	struct symbol_object *object;
	Dwarf *dwarf;
	int result;

	if (SYMBOL_ASK(symbol_modules_session(modules), copies, modules, module, name, copies,
		       &result))
		return result;
	object = symbol_module_object(modules, module);
	names = object ? symbol_object_names(object) : NULL;
	dwarf = object ? symbol_object_dwarf(object) : NULL;
	memset(copies, 0, sizeof(*copies));
	if (!object)
		return -ENOENT;
	if (object->module)
		copies->indirect = is_indirect(object->module, name);
	if (names)
		find_specialised(names, name, copies);
	if (dwarf)
		find_inlined(dwarf, name, copies);
	return 0;
}
