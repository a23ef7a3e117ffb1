/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/scope.h"

#include "dwarf/die.h"
#include "dwarf/evaluate.h"
#include "dwarf/unit.h"

#include <dwarf.h>
#include <errno.h>

struct search {
	struct symbol_evaluation evaluation;
	uint64_t pc;	  /* address in the file */
	uint64_t address; /* address in the process */
	enum symbol_scope_way way;
	struct symbol_scope_found *found;
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

/* Reads a reference: *start becomes the address of what it refers to. */
static bool refers_to(const struct search *search, const struct symbol_location *location,
		      uint64_t *start)
{
	const struct symbol_registers *registers = search->evaluation.registers;

	switch (location->kind) {
	case SYMBOL_LOCATION_REGISTER:
		if (!symbol_register_known(registers, (unsigned)location->value))
			return false;
		*start = registers->value[location->value];
		return true;
	case SYMBOL_LOCATION_MEMORY:
		return symbol_memory_read(search->evaluation.memory, location->value, start,
					  sizeof(*start)) == 0;
	default:
		*start = location->value;
		return true;
	}
}

static bool is_reference(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_reference_type ||
	       dwarf_tag(type) == DW_TAG_rvalue_reference_type;
}

static bool is_at(Dwarf_Die *die, struct search *search)
{
	struct symbol_location location;
	uint64_t start;
	Dwarf_Die type;

	if (locate(die, DW_AT_location, search, &location) < 0 || symbol_die_type(die, &type) < 0)
		return false;
	if (location.kind == SYMBOL_LOCATION_MEMORY &&
	    search->address - location.value < symbol_die_size(&type)) {
		start = location.value;
	} else if (search->way == SYMBOL_SCOPE_REFERRED && is_reference(&type)) {
		Dwarf_Die reference = type;

		if (!refers_to(search, &location, &start) ||
		    symbol_die_type(&reference, &type) < 0 ||
		    search->address - start >= symbol_die_size(&type))
			return false;
	} else {
		return false;
	}
	search->found->variable = *die;
	search->found->type = type;
	search->found->start = start;
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
			     enum symbol_scope_way way, struct symbol_scope_found *found)
{
	struct search search = {
		.evaluation = {.registers = &frame->registers,
			       .memory = memory,
			       .has_cfa = frame->has_cfa,
			       .cfa = frame->cfa,
			       .bias = bias},
		.pc = frame->pc - frame->return_address - bias,
		.address = address,
		.way = way,
		.found = found,
	};
	struct symbol_unit *unit = symbol_units_find(object, search.pc);

	if (!unit || symbol_unit_function(unit, search.pc, &found->function) < 0)
		return -ENOENT;
	set_frame_base(&found->function, &search);
	return search_scope(&found->function, &search, 0) ? 0 : -ENOENT;
}
