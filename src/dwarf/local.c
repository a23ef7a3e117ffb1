/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/local.h"

#include "dwarf/die.h"
#include "dwarf/type.h"

#include <dwarf.h>
#include <string.h>

static void add(Dwarf_Die *die, const char *name, size_t length, struct symbol_local *local)
{
	const char *own = symbol_die_name(die);
	struct symbol_type_facts facts;
	Dwarf_Die type;

	if (!own || strlen(own) != length || memcmp(own, name, length) != 0 ||
	    symbol_die_type(die, &type) < 0)
		return;
	facts = symbol_type_reaches(&type);
	local->found = true;
	local->is_atomic |= facts.is_atomic;
	local->is_volatile |= facts.is_volatile;
}

static void search(Dwarf_Die *scope, const char *name, size_t length, unsigned depth,
		   struct symbol_local *local)
{
	Dwarf_Die die;

	if (depth > SYMBOL_DIE_DEPTH || dwarf_child(scope, &die) != 0)
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			add(&die, name, length, local);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			search(&die, name, length, depth + 1, local);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

struct symbol_local symbol_local_find(Dwarf_Die *function, const char *name, size_t length)
{
	struct symbol_local local = {0};

	search(function, name, length, 0, &local);
	return local;
}
