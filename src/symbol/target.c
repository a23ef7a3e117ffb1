/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/target.h"

#include "dwarf/die.h"
#include "dwarf/line.h"
#include "dwarf/type.h"
#include "elf/object.h"
#include "session/asking.h"
#include "session/session.h"
#include "symbol/lookup.h"
#include "symbol/tls.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TYPE_TEXT 256
#define ADDRESS_LENGTH 8 /* bytes, of a bare address without :LEN */

struct resolution {
	struct symbol_modules *modules;
	struct symbol_target *target;
	bool typed;
	Dwarf_Die type;
	uint64_t length; /* bytes of a bit-field, which are not those of its type; else 0 */
	char *error;
};

__attribute__((format(printf, 3, 4))) static int complain(struct resolution *resolution, int result,
							  const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(resolution->error, SYMBOL_ERROR_MAX, format, list);
	va_end(list);
	return result;
}

static int follow(struct resolution *resolution)
{
	struct symbol_target *target = resolution->target;

	if (target->link_count == SYMBOL_TARGET_LINKS)
		return complain(resolution, -EINVAL, "too many pointers to follow");
	target->offset[++target->link_count] = 0;
	return 0;
}

static void move(struct resolution *resolution, uint64_t bytes)
{
	int64_t *offset = &resolution->target->offset[resolution->target->link_count];

	*offset = (int64_t)((uint64_t)*offset + bytes);
}

/* Strips the type. True: it is then a pointer; false: arrays have elements, too. */
static bool is_pointer(struct resolution *resolution)
{
	struct symbol_type_facts facts = {0};
	Dwarf_Die element;

	return resolution->typed && symbol_type_strip(&resolution->type, &facts) == 0 &&
	       facts.is_scalar && symbol_type_element(&resolution->type, &element) == 0;
}

static int dereference(struct resolution *resolution)
{
	int error;

	if (resolution->typed && !is_pointer(resolution))
		return complain(resolution, -EINVAL, "'%s': not a pointer where one is followed",
				resolution->target->name);
	error = follow(resolution);
	if (!error && resolution->typed)
		resolution->typed = symbol_type_element(&resolution->type, &resolution->type) == 0;
	return error;
}

static int enter_member(struct resolution *resolution, const struct symbol_step *step)
{
	struct symbol_type_member member;
	int error;

	if (!resolution->typed)
		return complain(
			resolution, -EINVAL,
			"'%s' has no debug information: write '+OFFSET:LEN' instead of '%s'",
			resolution->target->name, step->name);
	/* Both "." and "->" follow a pointer, as debuggers have it. */
	if (is_pointer(resolution) && (error = dereference(resolution)) != 0)
		return error;
	if (!resolution->typed ||
	    symbol_type_member_named(&resolution->type, step->name, &member) < 0)
		return complain(resolution, -ENOENT, "'%s' has no member '%s' there",
				resolution->target->name, step->name);
	resolution->type = member.type;
	resolution->length = member.length;
	move(resolution, member.offset);
	return 0;
}

static int enter_index(struct resolution *resolution, const struct symbol_step *step)
{
	bool pointer = is_pointer(resolution);
	uint64_t size;
	int error;

	if (!resolution->typed)
		return complain(
			resolution, -EINVAL,
			"'%s' has no debug information: write '+OFFSET:LEN' instead of '[…]'",
			resolution->target->name);
	if (pointer && (error = dereference(resolution)) != 0)
		return error;
	if (!pointer && symbol_type_element(&resolution->type, &resolution->type) < 0)
		return complain(resolution, -EINVAL, "'%s' is not an array there",
				resolution->target->name);
	size = resolution->typed ? symbol_die_size(&resolution->type) : 0;
	if (size == 0)
		return complain(resolution, -EINVAL, "the size of '%s' elements is unknown",
				resolution->target->name);
	move(resolution, size * (uint64_t)step->number);
	return 0;
}

static int apply(struct resolution *resolution, const struct symbol_step *step)
{
	resolution->length = 0;
	switch (step->kind) {
	case SYMBOL_STEP_MEMBER:
	case SYMBOL_STEP_ARROW:
		return enter_member(resolution, step);
	case SYMBOL_STEP_INDEX:
		return enter_index(resolution, step);
	case SYMBOL_STEP_OFFSET:
		move(resolution, (uint64_t)step->number);
		resolution->typed = false;
		return 0;
	default:
		return dereference(resolution);
	}
}

static void set_type(struct resolution *resolution)
{
	struct symbol_target *target = resolution->target;
	struct symbol_type_values values;
	char text[TYPE_TEXT];

	if (!resolution->typed)
		return;
	values = symbol_type_values(&resolution->type);
	target->is_signed = values.is_signed;
	target->is_pointer = values.is_pointer;
	symbol_type_name(&resolution->type, text, sizeof(text));
	target->type = symbol_keep(symbol_modules_session(resolution->modules), text);
	if (target->length == 0)
		target->length = resolution->length ? resolution->length
						    : symbol_die_size(&resolution->type);
}

static int resolve_data(struct resolution *resolution, const struct symbol_expression *expression,
			uint64_t size, unsigned used)
{
	struct symbol_target *target = resolution->target;

	target->kind = SYMBOL_TARGET_DATA;
	target->length = expression->length;
	target->access = expression->access ? expression->access : SYMBOL_ACCESS_WRITE;
	for (unsigned i = used; i < expression->step_count; i++) {
		int error = apply(resolution, &expression->step[i]);

		if (error)
			return error;
	}
	set_type(resolution);
	if (target->length == 0)
		target->length = expression->step_count == used && size ? size : ADDRESS_LENGTH;
	return 0;
}

static int resolve_function(struct resolution *resolution,
			    const struct symbol_expression *expression,
			    const struct symbol_found *found, unsigned used)
{
	struct symbol_target *target = resolution->target;
	int64_t offset = 0;

	if (expression->access & (SYMBOL_ACCESS_READ | SYMBOL_ACCESS_WRITE))
		return complain(resolution, -EINVAL, "'%s' is a function: only ':x' makes sense",
				target->name);
	for (unsigned i = used; i < expression->step_count; i++) {
		if (expression->step[i].kind != SYMBOL_STEP_OFFSET)
			return complain(resolution, -EINVAL,
					"'%s' is a function: only '+OFFSET' can follow",
					target->name);
		offset += expression->step[i].number;
	}
	target->kind = SYMBOL_TARGET_CODE_PLACES;
	target->access = SYMBOL_ACCESS_EXECUTE;
	target->code[0] = found->address + (uint64_t)offset;
	target->code_count = 1;
	target->code_end = found->address + found->size;
	return 0;
}

/* In some languages names have a dot, as Go's `package.Variable`: if the part before it names
 * nothing that has members, the whole is looked for. `used`: how many of the expression's steps
 * became part of the name. */
static int find(struct resolution *resolution, const struct symbol_expression *expression,
		struct symbol_found *found, unsigned *used)
{
	const struct symbol_step *step = expression->step;
	char whole[SYMBOL_EXPRESSION_TEXT], unused[SYMBOL_ERROR_MAX];
	int error = symbol_lookup(resolution->modules, expression->qualifier, expression->name,
				  found, resolution->error);
	struct symbol_found dotted;

	*used = 0;
	if ((!error && !found->function) || !expression->step_count ||
	    step->kind != SYMBOL_STEP_MEMBER)
		return error;
	snprintf(whole, sizeof(whole), "%s.%s", expression->name, step->name);
	if (symbol_lookup(resolution->modules, expression->qualifier, whole, &dotted, unused))
		return error;
	*found = dotted;
	*used = 1;
	resolution->error[0] = '\0';
	resolution->target->name = symbol_keep(symbol_modules_session(resolution->modules), whole);
	return 0;
}

static int resolve_name(struct resolution *resolution, const struct symbol_expression *expression)
{
	struct symbol_target *target = resolution->target;
	struct symbol_found found;
	unsigned used;
	int error = find(resolution, expression, &found, &used);

	if (error)
		return error;
	target->module = found.module;
	target->tls = found.tls;
	if (expression->kind == SYMBOL_EXPRESSION_HEAP) {
		if (!found.function)
			return complain(resolution, -EINVAL, "'%s' is not a function",
					expression->name);
		target->kind = SYMBOL_TARGET_HEAP_BLOCKS;
		target->code[0] = found.address;
		target->code_count = 1;
		target->code_end = found.address + found.size;
		target->block_size = expression->number;
		if (expression->step_count)
			target->offset[0] = expression->step[0].number;
		target->length = expression->length
					 ? expression->length
					 : expression->number - (uint64_t)target->offset[0];
		target->access = expression->access ? expression->access : SYMBOL_ACCESS_WRITE;
		return 0;
	}
	if (found.function)
		return resolve_function(resolution, expression, &found, used);
	target->start = found.address;
	resolution->typed = found.typed;
	resolution->type = found.type;
	return resolve_data(resolution, expression, found.size, used);
}

/* Finds the places of a line, or of the next line that has any, in one module. `line`: the one that
 * was found. */
static unsigned find_line(struct resolution *resolution, const struct symbol_expression *expression,
			  const struct symbol_module *module, unsigned *line)
{
	struct symbol_object *object = symbol_module_object(resolution->modules, module);
	uint64_t *code = resolution->target->code;
	unsigned count;

	*line = (unsigned)expression->number;
	if (module->gone || !object)
		return 0;
	count = (unsigned)symbol_line_addresses(object, expression->qualifier, line, code,
						SYMBOL_TARGET_CODE);
	for (unsigned i = 0; i < count; i++)
		code[i] += module->bias;
	return count;
}

/* If several modules have a file of that name, the one that has the very line is meant. */
static int resolve_line(struct resolution *resolution, const struct symbol_expression *expression)
{
	struct symbol_target *target = resolution->target;
	const struct symbol_module *module;
	unsigned line;

	target->kind = SYMBOL_TARGET_CODE_PLACES;
	target->access = SYMBOL_ACCESS_EXECUTE;
	for (int exact = 1; exact >= 0; exact--)
		for (size_t i = 0; (module = symbol_modules_at(resolution->modules, i)); i++) {
			unsigned count = find_line(resolution, expression, module, &line);

			if (!count || (exact && line != expression->number))
				continue;
			target->code_count = count;
			target->module = module;
			target->line = line;
			return 0;
		}
	return complain(resolution, -EAGAIN,
			"no code at or after line %llu of a file called '%s' is loaded",
			(unsigned long long)expression->number, expression->qualifier);
}

int symbol_target_resolve(struct symbol_modules *modules,
			  const struct symbol_expression *expression, struct symbol_target *target,
			  char error[SYMBOL_ERROR_MAX])
{
	struct resolution resolution = {.modules = modules, .target = target, .error = error};
	int result;

	if (SYMBOL_ASK(symbol_modules_session(modules), target, modules, expression, target, error,
		       &result))
		return result;
	memset(target, 0, sizeof(*target));
	error[0] = 0;
	target->name = symbol_keep(symbol_modules_session(modules),
				   expression->name ? expression->name : "");
	switch (expression->kind) {
	case SYMBOL_EXPRESSION_ADDRESS:
		target->start = expression->number;
		if (expression->access & SYMBOL_ACCESS_EXECUTE) {
			target->kind = SYMBOL_TARGET_CODE_PLACES;
			target->access = SYMBOL_ACCESS_EXECUTE;
			target->code[0] = expression->number;
			target->code_count = 1;
			return 0;
		}
		return resolve_data(&resolution, expression, 0, 0);
	case SYMBOL_EXPRESSION_LINE:
		return resolve_line(&resolution, expression);
	default:
		return resolve_name(&resolution, expression);
	}
}

int symbol_target_evaluate(struct symbol_modules *modules, const struct symbol_target *target,
			   const struct symbol_memory *memory, uint64_t fs_base, uint64_t *result,
			   uint64_t pointers[SYMBOL_TARGET_LINKS])
{
	uint64_t address = target->start, block;

	if (target->tls) {
		if (symbol_tls_block(modules, target->module, fs_base, &block) < 0)
			return -ENOENT;
		address += block;
	}
	address += (uint64_t)target->offset[0];
	for (unsigned i = 0; i < target->link_count; i++) {
		uint64_t pointer;

		if (pointers)
			pointers[i] = address;
		if (symbol_memory_read(memory, address, &pointer, sizeof(pointer)) < 0 ||
		    pointer == 0)
			return -EFAULT;
		address = pointer + (uint64_t)target->offset[i + 1];
	}
	*result = address;
	return 0;
}
