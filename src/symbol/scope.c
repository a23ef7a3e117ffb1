/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/scope.h"

#include "symbol/die.h"
#include "symbol/evaluate.h"
#include "symbol/unit.h"

#include <dwarf.h>
#include <errno.h>

struct search {
	struct symbol_evaluation evaluation;
	uint64_t pc;	  /* the file's own */
	uint64_t address; /* the process's */
	Dwarf_Die found;
	uint64_t start;
};

static int locate(Dwarf_Die *die, unsigned attribute_name, struct search *search,
		  struct symbol_location *location)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr_integrate(die, attribute_name, &attribute) ||
	    dwarf_getlocation_addr(&attribute, search->pc, &ops, &count, 1) != 1)
		return -ENOENT;
	return symbol_evaluate(&search->evaluation, ops, count, location);
}

static void set_frame_base(Dwarf_Die *function, struct search *search)
{
	const struct symbol_registers *registers = search->evaluation.registers;
	struct symbol_location location;

	if (locate(function, DW_AT_frame_base, search, &location) < 0)
		return;
	if (location.kind == SYMBOL_LOCATION_REGISTER) {
		if (!symbol_register_known(registers, (unsigned)location.value))
			return;
		location.value = registers->value[location.value];
	}
	search->evaluation.frame_base = location.value;
	search->evaluation.has_frame_base = true;
}

static bool is_at(Dwarf_Die *die, struct search *search)
{
	struct symbol_location location;
	Dwarf_Die type;
	uint64_t size;

	if (locate(die, DW_AT_location, search, &location) < 0 ||
	    location.kind != SYMBOL_LOCATION_MEMORY || symbol_die_type(die, &type) < 0)
		return false;
	size = symbol_die_size(&type);
	if (search->address - location.value >= size)
		return false;
	search->found = *die;
	search->start = location.value;
	return true;
}

static bool search_scope(Dwarf_Die *scope, struct search *search, unsigned depth)
{
	Dwarf_Die die;

	if (depth > SYMBOL_DIE_DEPTH || dwarf_child(scope, &die) != 0)
		return false;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			if (is_at(&die, search))
				return true;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (search_scope(&die, search, depth + 1))
				return true;
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

int symbol_scope_variable_at(struct symbol_object *object, uint64_t bias,
			     const struct symbol_stack_frame *frame,
			     const struct symbol_memory *memory, uint64_t address,
			     Dwarf_Die *variable, Dwarf_Die *function, uint64_t *start)
{
	struct search search = {
		.evaluation = {.registers = &frame->registers,
			       .memory = memory,
			       .has_cfa = frame->has_cfa,
			       .cfa = frame->cfa,
			       .bias = bias},
		.pc = frame->pc - frame->return_address - bias,
		.address = address,
	};
	struct symbol_unit *unit = symbol_units_find(object, search.pc);

	if (!unit || symbol_unit_function(unit, search.pc, function) < 0)
		return -ENOENT;
	set_frame_base(function, &search);
	if (!search_scope(function, &search, 0))
		return -ENOENT;
	*variable = search.found;
	*start = search.start;
	return 0;
}
