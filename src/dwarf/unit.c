/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/unit.h"

#include "dwarf/die.h"
#include "elf/object.h"
#include "session/session.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_MAX (1u << 20)
#define RANGES_MAX 65536u
#define ENTITIES_MAX (1u << 22)

/* Room for one more element of an array that doubles; false when out of memory. */
static bool make_room(void *array, size_t count, size_t element)
{
	void **pointer = array;
	void *grown;

	if (count & (count - 1))
		return true;
	grown = reallocarray(*pointer, count ? count * 2 : 1, element);
	if (!grown)
		return false;
	*pointer = grown;
	return true;
}

static void add_range(struct symbol_object *object, struct symbol_units *units, uint64_t low,
		      uint64_t high, uint32_t unit)
{
	/* The linker leaves ranges of discarded code at address 0 or at all ones. */
	if (low >= high || !symbol_image_is_code(&object->image, low))
		return;
	if (make_room(&units->ranges, units->range_count, sizeof(*units->ranges)))
		units->ranges[units->range_count++] = (struct symbol_range){low, high, unit};
}

static int compare_range(const void *a, const void *b)
{
	const struct symbol_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static int compare_function(const void *a, const void *b)
{
	const struct symbol_function *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* One unit ------------------------------------------------------------------------------------- */

static void add_function(struct symbol_object *object, struct symbol_unit *unit, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	for (unsigned i = 0; i < RANGES_MAX; i++) {
		offset = dwarf_ranges(die, offset, &base, &low, &high);
		if (offset <= 0)
			break;
		if (low >= high || !symbol_image_is_code(&object->image, low))
			continue;
		if (!make_room(&unit->functions, unit->function_count, sizeof(*unit->functions)))
			break;
		unit->functions[unit->function_count++] =
			(struct symbol_function){low, high, dwarf_dieoffset(die)};
	}
}

/* DW_OP_addr A, DW_OP_addrx, or an offset in thread-local storage; nothing else is fixed. */
static bool fixed_location(Dwarf_Die *die, uint64_t *address, bool *tls)
{
	Dwarf_Attribute attribute, resolved;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count) != 0 || count == 0)
		return false;
	*tls = count == 2 &&
	       (ops[1].atom == DW_OP_GNU_push_tls_address || ops[1].atom == DW_OP_form_tls_address);
	if (count != 1 && !*tls)
		return false;
	switch (ops[0].atom) {
	case DW_OP_addr:
	case DW_OP_const4u:
	case DW_OP_const8u:
		*address = ops[0].number;
		return *tls || ops[0].atom == DW_OP_addr;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		return dwarf_getlocation_attr(&attribute, &ops[0], &resolved) == 0 &&
		       dwarf_formaddr(&resolved, address) == 0;
	default:
		return false;
	}
}

static void add_entity(struct symbol_object *object, struct symbol_unit *unit, uint32_t number,
		       Dwarf_Die *die)
{
	struct symbol_entity entity = {.die = dwarf_dieoffset(die), .unit = number};
	Dwarf_Addr end;
	Dwarf_Die type;

	entity.function = dwarf_tag(die) == DW_TAG_subprogram;
	if (entity.function ? symbol_die_entry(die, &entity.address, &end) < 0
			    : !fixed_location(die, &entity.address, &entity.tls))
		return;
	if (entity.function && !symbol_image_is_code(&object->image, entity.address))
		return;
	/* The strings belong to the mapped DWARF, which lives as long as the object. */
	entity.name = symbol_die_name(die);
	if (!entity.name || !make_room(&unit->entities, unit->entity_count, sizeof(entity)))
		return;
	entity.linkage = symbol_die_linkage(die);
	entity.external = symbol_die_flag(die, DW_AT_external);
	if (!entity.function && symbol_die_type(die, &type) == 0)
		entity.size = symbol_die_size(&type);
	unit->entities[unit->entity_count++] = entity;
}

static bool may_hold_code(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

static void walk(struct symbol_object *object, struct symbol_unit *unit, uint32_t number,
		 Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth > SYMBOL_DIE_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		if (unit->entity_count >= ENTITIES_MAX)
			return;
		if (tag == DW_TAG_subprogram)
			add_function(object, unit, &die);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_variable)
			add_entity(object, unit, number, &die);
		if (may_hold_code(tag))
			walk(object, unit, number, &die, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

int symbol_unit_die(struct symbol_object *object, const struct symbol_unit *unit, Dwarf_Die *die)
{
	return dwarf_offdie(symbol_object_dwarf(object), unit->die, die) ? 0 : -ENOENT;
}

static void index_unit(struct symbol_object *object, uint32_t number)
{
	struct symbol_unit *unit = &object->units->unit[number];
	Dwarf_Die die, split;
	uint8_t type;

	if (unit->indexed)
		return;
	unit->indexed = true;
	unit->dwarf = symbol_object_dwarf(object);
	unit->root = unit->die;
	if (symbol_unit_die(object, unit, &die) < 0)
		return;
	if (dwarf_cu_info(die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
	    type == DW_UT_skeleton && split.addr) {
		die = split;
		unit->dwarf = dwarf_cu_getdwarf(split.cu);
		unit->root = dwarf_dieoffset(&split);
	}
	walk(object, unit, number, &die, 0);
	if (unit->function_count)
		qsort(unit->functions, unit->function_count, sizeof(*unit->functions),
		      compare_function);
}

/* All units ------------------------------------------------------------------------------------ */

static void add_unit_ranges(struct symbol_object *object, struct symbol_units *units,
			    Dwarf_Die *die, uint32_t number)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;
	size_t before = units->range_count;

	for (unsigned i = 0; i < RANGES_MAX; i++) {
		offset = dwarf_ranges(die, offset, &base, &low, &high);
		if (offset <= 0)
			break;
		add_range(object, units, low, high, number);
	}
	if (units->range_count > before || dwarf_hasattr(die, DW_AT_low_pc) ||
	    dwarf_hasattr(die, DW_AT_ranges))
		return;
	/* A unit that does not say where its code is: ask its functions. */
	index_unit(object, number);
	for (size_t i = 0; i < units->unit[number].function_count; i++)
		add_range(object, units, units->unit[number].functions[i].low,
			  units->unit[number].functions[i].high, number);
}

static void read_units(struct symbol_object *object, Dwarf *dwarf)
{
	struct symbol_units *units = object->units;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (units->count < UNITS_MAX &&
	       dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		int tag = dwarf_tag(&die);

		if ((type != DW_UT_compile && type != DW_UT_skeleton) ||
		    (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit))
			continue;
		if (!make_room(&units->unit, units->count, sizeof(*units->unit)))
			break;
		units->unit[units->count] = (struct symbol_unit){.die = dwarf_dieoffset(&die)};
		units->count++;
		add_unit_ranges(object, units, &die, (uint32_t)units->count - 1);
	}
	if (units->range_count)
		qsort(units->ranges, units->range_count, sizeof(*units->ranges), compare_range);
}

static void units_free(struct symbol_units *units)
{
	for (size_t i = 0; i < units->count; i++) {
		free(units->unit[i].functions);
		free(units->unit[i].entities);
		if (units->unit[i].vocabulary)
			units->unit[i].vocabulary_free(units->unit[i].vocabulary);
		if (units->unit[i].macros)
			units->unit[i].macros_free(units->unit[i].macros);
	}
	free(units->unit);
	free(units->ranges);
	free(units->variables);
	free(units->tls);
	free(units->named);
	free(units);
}

struct symbol_units *symbol_object_units(struct symbol_object *object)
{
	Dwarf *dwarf = symbol_object_dwarf(object);

	if (!object->units && dwarf) {
		object->units = calloc(1, sizeof(*object->units));
		object->units_free = units_free;
		if (object->units)
			read_units(object, dwarf);
	}
	return object->units;
}

struct symbol_unit *symbol_units_find(struct symbol_object *object, uint64_t address)
{
	struct symbol_units *units = symbol_object_units(object);
	size_t low = 0, high = units ? units->range_count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (units->ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address >= units->ranges[low - 1].high)
		return NULL;
	index_unit(object, units->ranges[low - 1].unit);
	return &units->unit[units->ranges[low - 1].unit];
}

int symbol_unit_function(const struct symbol_unit *unit, uint64_t address, Dwarf_Die *function)
{
	size_t low = 0, high = unit->function_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unit->functions[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address >= unit->functions[low - 1].high)
		return -ENOENT;
	return dwarf_offdie(unit->dwarf, unit->functions[low - 1].die, function) ? 0 : -ENOENT;
}

int symbol_unit_root(const struct symbol_unit *unit, Dwarf_Die *die)
{
	return unit->indexed && dwarf_offdie(unit->dwarf, unit->root, die) ? 0 : -ENOENT;
}

int symbol_entity_die(const struct symbol_units *units, const struct symbol_entity *entity,
		      Dwarf_Die *die)
{
	const struct symbol_unit *unit = &units->unit[entity->unit];

	return dwarf_offdie(unit->dwarf, entity->die, die) ? 0 : -ENOENT;
}

/* Merged views --------------------------------------------------------------------------------- */

static int compare_entity_address(const void *a, const void *b)
{
	const struct symbol_entity *x = *(const struct symbol_entity *const *)a;
	const struct symbol_entity *y = *(const struct symbol_entity *const *)b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

static int compare_entity_name(const void *a, const void *b)
{
	const struct symbol_entity *x = *(const struct symbol_entity *const *)a;
	const struct symbol_entity *y = *(const struct symbol_entity *const *)b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	if (x->external != y->external)
		return y->external - x->external;
	return (x->die > y->die) - (x->die < y->die);
}

static bool append_entity(const struct symbol_entity ***list, size_t *count,
			  const struct symbol_entity *entity)
{
	if (!make_room(list, *count, sizeof(**list)))
		return false;
	(*list)[(*count)++] = entity;
	return true;
}

static bool merge_unit(struct symbol_units *units, const struct symbol_unit *unit)
{
	for (size_t i = 0; i < unit->entity_count; i++) {
		const struct symbol_entity *entity = &unit->entities[i];

		if (!append_entity(&units->named, &units->named_count, entity))
			return false;
		if (entity->function)
			continue;
		if (entity->tls ? !append_entity(&units->tls, &units->tls_count, entity)
				: !append_entity(&units->variables, &units->variable_count, entity))
			return false;
	}
	return true;
}

static void sort_entities(const struct symbol_entity **list, size_t count,
			  int (*compare)(const void *, const void *))
{
	if (count)
		qsort(list, count, sizeof(*list), compare);
}

int symbol_units_index_all(struct symbol_object *object)
{
	struct symbol_units *units = symbol_object_units(object);

	if (!units)
		return -ENOENT;
	if (units->merged)
		return 0;
	units->merged = true;
	for (size_t i = 0; i < units->count; i++) {
		index_unit(object, (uint32_t)i);
		if (!merge_unit(units, &units->unit[i]))
			return -ENOMEM;
	}
	sort_entities(units->variables, units->variable_count, compare_entity_address);
	sort_entities(units->tls, units->tls_count, compare_entity_address);
	sort_entities(units->named, units->named_count, compare_entity_name);
	return 0;
}

const struct symbol_entity *symbol_units_variable(const struct symbol_units *units,
						  uint64_t address, bool tls)
{
	const struct symbol_entity **list = tls ? units->tls : units->variables;
	size_t low = 0, high = tls ? units->tls_count : units->variable_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - list[low - 1]->address >= list[low - 1]->size)
		return NULL;
	return list[low - 1];
}

const struct symbol_entity *symbol_units_lookup(const struct symbol_units *units, const char *name,
						size_t index)
{
	size_t low = 0, high = units->named_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(units->named[middle]->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (index >= units->named_count - low || strcmp(units->named[low + index]->name, name) != 0)
		return NULL;
	return units->named[low + index];
}
